import { type QueryFilters, useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useState } from 'react'
import { legible } from '../format/visible'
import { newestOf } from './events'
import type { Event } from './shapes'

/** Liveness is how the stream of events stands. */
export interface Liveness {
  state: 'connecting' | 'live' | 'stopped'
  /** since when it has been so */
  at: number
}

type Listener = (event: Event) => void

interface Live {
  liveness: Liveness
  listen: (listener: Listener) => () => void
}

const Context = createContext<Live | null>(null)

const retryAfter = 3000

/** Stale is what an event makes stale, and how soon pages that show it ask
 *  again: however many events arrive, at most once in that time. */
interface Stale {
  keys: string[]
  within: number
}

const soon = 500
const sums: Stale = { keys: ['stats', 'agents', 'sessions', 'session', 'agent'], within: 10_000 }

function staleBy(event: Event): Stale {
  switch (event.event_type) {
    case 'kill_switch':
    case 'halt':
    case 'steer':
    case 'warning':
    case 'growth':
      return { keys: [...sums.keys, 'incidents', 'incident', 'deliveries', 'alerts'], within: soon }
    case 'policy_change':
      return { keys: [...sums.keys, 'incidents', 'incident', 'rules', 'status', 'channels', 'alert-rules'], within: soon }
    case 'alert':
      return { keys: ['incidents', 'deliveries', 'alerts', 'channels'], within: soon }
    default:
      return sums
  }
}

/** LiveProvider holds the one stream that all pages share. */
export function LiveProvider({ children }: { children: ReactNode }) {
  const queries = useQueryClient()
  const listeners = useRef(new Set<Listener>())
  const [liveness, setLiveness] = useState<Liveness>({ state: 'connecting', at: Date.now() })

  useEffect(() => {
    let source: EventSource
    let timer: number | undefined
    const timers = new Map<string, number>()
    const refresh = (name: string, stale: QueryFilters, within: number) => {
      const timer = `${name} ${within}`
      if (timers.has(timer)) return
      timers.set(
        timer,
        window.setTimeout(() => {
          timers.delete(timer)
          void queries.invalidateQueries(stale)
        }, within),
      )
    }
    const become = (state: Liveness['state']) =>
      setLiveness((was) => (was.state === state ? was : { state, at: Date.now() }))

    const hear = (message: MessageEvent<string>) => {
      const event = legible(JSON.parse(message.data) as Event)
      for (const listener of listeners.current) listener(event)
      const { keys, within } = staleBy(event)
      for (const key of keys) refresh(key, { queryKey: [key] }, within)
      if (event.agent) refresh(`events of ${event.agent}`, newestOf(event.agent), within)
    }
    const open = () => {
      source = new EventSource('/v1/events/stream')
      source.addEventListener('open', () => {
        become('live')
        // The page was asked for before the stream began: what happened
        // between is in neither.
        refresh('all', {}, sums.within)
      })
      source.addEventListener('event', hear)
      source.addEventListener('error', () => {
        become('stopped')
        // The browser tries again by itself unless it was refused.
        if (source.readyState === EventSource.CLOSED) timer = window.setTimeout(open, retryAfter)
      })
    }
    open()
    return () => {
      source.close()
      window.clearTimeout(timer)
      for (const running of timers.values()) window.clearTimeout(running)
    }
  }, [queries])

  const live = useMemo<Live>(
    () => ({
      liveness,
      listen: (listener) => {
        listeners.current.add(listener)
        return () => listeners.current.delete(listener)
      },
    }),
    [liveness],
  )
  return <Context value={live}>{children}</Context>
}

function useLive(): Live {
  const live = useContext(Context)
  if (!live) throw new Error('LiveProvider is missing above this component')
  return live
}

export function useLiveness(): Liveness {
  return useLive().liveness
}

/** useEvents calls listener with each event as it happens. */
export function useEvents(listener: Listener): void {
  const { listen } = useLive()
  const latest = useRef(listener)
  useEffect(() => {
    latest.current = listener
  })
  useEffect(() => listen((event) => latest.current(event)), [listen])
}
