import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { sessionPages } from '../../api/agents'
import { newestEvents } from '../../api/events'
import { newestIncidents } from '../../api/incidents'
import type { AgentDetail, Event } from '../../api/shapes'
import { Empty } from '../../parts/Empty'
import { EventDrawer } from '../../parts/EventDrawer'
import { EventTable } from '../../parts/EventTable'
import { IncidentTable } from '../../parts/IncidentTable'
import { Loaded } from '../../parts/Loaded'
import { Section } from '../../parts/Section'
import { SessionTable } from '../../parts/SessionTable'

const shown = 6

export function AgentSessions({ agent }: { agent: AgentDetail }) {
  const query = useInfiniteQuery(sessionPages({ agent: agent.id }, shown))
  return (
    <Section
      title="Sessions"
      actions={
        <Link to="/sessions" search={{ agent: agent.id }}>
          All sessions
        </Link>
      }
    >
      <Loaded query={query} thing="sessions">
        {(data) => {
          const sessions = data.pages[0]?.rows ?? []
          return sessions.length === 0 ? (
            <Empty title="No session in this time" />
          ) : (
            <SessionTable sessions={sessions} />
          )
        }}
      </Loaded>
    </Section>
  )
}

export function AgentIncidents({ agent }: { agent: AgentDetail }) {
  const query = useQuery(newestIncidents({ agent: agent.id, since: '30d' }, shown))
  return (
    <Section
      title="Incidents"
      aside="30 days"
      actions={
        <Link to="/incidents" search={{ agent: agent.id, status: 'all' }}>
          All incidents
        </Link>
      }
    >
      <Loaded query={query} thing="incidents">
        {(page) => (page.rows.length === 0 ? <Empty title="No incidents">This agent has not run away.</Empty> : <IncidentTable incidents={page.rows} />)}
      </Loaded>
    </Section>
  )
}

export function AgentEvents({ agent }: { agent: AgentDetail }) {
  const query = useQuery(newestEvents({ agent: agent.id }, 8))
  const [open, setOpen] = useState<Event>()
  return (
    <Section
      title="Events"
      aside="newest first"
      actions={
        <Link to="/events" search={{ agent: agent.id }}>
          All events
        </Link>
      }
    >
      <Loaded query={query} thing="events">
        {(page) =>
          page.rows.length === 0 ? (
            <Empty title="No event yet" />
          ) : (
            <EventTable events={page.rows} onOpen={setOpen} />
          )
        }
      </Loaded>
      <EventDrawer event={open} onClose={() => setOpen(undefined)} />
    </Section>
  )
}
