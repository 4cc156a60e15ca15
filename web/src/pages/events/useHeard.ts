import { useEffect, useState } from 'react'
import type { EventFilter } from '../../api/events'
import { useEvents } from '../../api/live'
import type { Event } from '../../api/shapes'

const kept = 200

/** useHeard is what has happened since the record was read, as far as the
 *  filter selects it. Paused, it collects and shows nothing new. What it cannot
 *  keep would be missing between it and the record: before that, the record is
 *  read anew. */
export function useHeard(filter: EventFilter, readAnew: () => Promise<boolean>) {
  const [heard, setHeard] = useState<Event[]>([])
  const [waiting, setWaiting] = useState<Event[]>([])
  const [paused, setPaused] = useState(false)

  useEffect(() => {
    setHeard([])
    setWaiting([])
  }, [filter])

  const full = heard.length >= kept
  useEffect(() => {
    if (!full) return
    const before = new Set(heard)
    void readAnew().then((read) => read && setHeard((h) => h.filter((e) => !before.has(e))))
  }, [full])

  useEvents((e) => {
    if (!selects(filter, e)) return
    const add = (list: Event[]) => [e, ...list].slice(0, kept)
    if (paused) setWaiting(add)
    else setHeard(add)
  })

  const toggle = () => {
    if (paused) {
      setHeard((h) => [...waiting, ...h].slice(0, kept))
      setWaiting([])
    }
    setPaused(!paused)
  }
  return { heard, paused, waiting: waiting.length < kept ? String(waiting.length) : `${kept} or more`, toggle }
}

/** selects says of one event what the API's query says of many. What happens
 *  now lies in every time that reaches up to now. */
export function selects(filter: EventFilter, e: Event): boolean {
  return (
    (!filter.agent || filter.agent.toLowerCase() === e.agent) &&
    (!filter.session || filter.session === e.session) &&
    (!filter.type || filter.type.includes(e.event_type))
  )
}
