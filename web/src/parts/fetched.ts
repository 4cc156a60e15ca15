import { lazyRouteComponent } from '@tanstack/react-router'
import type { ComponentType } from 'react'
import { unreachable } from '../api/client'

/** fetched loads a part of the dashboard that is fetched when it is needed.
 *  Where haltd is away, the error says so, in place of the browser's. */
export async function fetched<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    const there = await fetch('/healthz').then((answer) => answer.ok, () => false)
    throw there ? error : unreachable()
  }
}

/** page is a page of the dashboard. Where haltd is there and the page is not,
 *  another release has taken the place of this one, and the browser loads it. */
export function page(load: () => Promise<{ default: ComponentType }>) {
  return lazyRouteComponent(() => fetched(load))
}
