import { useEffect, useState } from 'react'

/** useNow is the time, again every interval, for spans that run. */
export function useNow(interval = 10_000): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = window.setInterval(() => setNow(Date.now()), interval)
    return () => window.clearInterval(timer)
  }, [interval])
  return now
}
