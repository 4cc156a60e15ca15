import { useEffect, useState } from 'react'

const listeners = new Set<() => void>()
let timer: number | undefined

/** onTick calls a listener every second, all of them by one timer, until what
 *  it returns is called. */
export function onTick(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= window.setInterval(() => listeners.forEach((l) => l()), 1000)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    window.clearInterval(timer)
    timer = undefined
  }
}

/** useNow is the time, again every interval, for spans that run. */
export function useNow(interval = 10_000): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = window.setInterval(() => setNow(Date.now()), interval)
    return () => window.clearInterval(timer)
  }, [interval])
  return now
}
