import { Button, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { memo, useState } from 'react'
import { feedQuery, feedSize as shown } from '../../api/events'
import { useEvents } from '../../api/live'
import { useSections } from '../../api/settings'
import type { Event } from '../../api/shapes'
import { clock } from '../../format/time'
import { Dot } from '../../parts/Dot'
import { EventDrawer } from '../../parts/EventDrawer'
import { eventWords } from '../../parts/eventWords'
import { Loaded } from '../../parts/Loaded'
import { Section } from '../../parts/Section'
import classes from './overview.module.css'

/** LiveFeed is the newest events, each as it happens. */
export function LiveFeed() {
  const recent = useQuery(feedQuery)
  const [heard, setHeard] = useState<Event[]>([])
  const [paused, setPaused] = useState(false)
  const [waiting, setWaiting] = useState<Event[]>([])
  const [open, setOpen] = useState<Event>()
  const newest = (list: Event[]) => list.slice(0, shown)

  useEvents((e) => (paused ? setWaiting((w) => newest([e, ...w])) : setHeard((h) => newest([e, ...h]))))

  const resume = () => {
    setHeard((h) => newest([...waiting, ...h]))
    setWaiting([])
    setPaused(false)
  }
  return (
    <Section
      title="Live events"
      aside={paused && waiting.length > 0 ? `${waiting.length === shown ? `${shown}+` : waiting.length} waiting` : undefined}
      actions={<Button onClick={paused ? resume : () => setPaused(true)}>{paused ? 'Continue' : 'Pause'}</Button>}
    >
      <Loaded query={recent} thing="events" rows={8}>
        {(page) => (
          <ul className={classes.feed}>
            {newest(merged(heard, page.rows)).map((e) => (
              <li key={e.id}>
                <Line event={e} onOpen={setOpen} />
              </li>
            ))}
          </ul>
        )}
      </Loaded>
      <EventDrawer event={open} onClose={() => setOpen(undefined)} />
    </Section>
  )
}

const Line = memo(function Line({ event, onOpen }: { event: Event; onOpen: (e: Event) => void }) {
  const { color, what, figure } = eventWords(event, useSections())
  return (
    <button type="button" className={classes.row} onClick={() => onOpen(event)}>
      <span className="muted">{clock(event.time)}</span>
      <Dot color={color} />
      <span className="clip" style={{ flex: 1 }}>
        <Text span inherit fw={600}>
          {event.agent}
        </Text>{' '}
        <span className="muted">{what}</span>
      </span>
      <span className="muted">{figure}</span>
    </button>
  )
})

function merged(heard: Event[], stored: Event[]): Event[] {
  const seen = new Set(heard.map((e) => e.id))
  return [...heard, ...stored.filter((e) => !seen.has(e.id))]
}
