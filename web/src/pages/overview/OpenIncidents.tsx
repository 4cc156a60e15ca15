import { Badge, Text } from '@mantine/core'
import { IconAlertOctagon } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { statsQuery } from '../../api/agents'
import { newestIncidents } from '../../api/incidents'
import type { Incident } from '../../api/shapes'
import { times } from '../../format/figures'
import { ago } from '../../format/time'
import { ButtonLink } from '../../parts/ButtonLink'
import { Empty } from '../../parts/Empty'
import { ActionBadge } from '../../parts/IncidentBadges'
import { Loaded } from '../../parts/Loaded'
import { Section } from '../../parts/Section'
import { useNow } from '../../parts/useNow'
import classes from './overview.module.css'

const shown = 5

/** OpenIncidents is what waits for a decision. */
export function OpenIncidents() {
  const open = useQuery(newestIncidents({ status: 'open' }, shown))
  const n = open.data?.rows.length ?? 0
  return (
    <Section
      title={
        <>
          Open incidents {n > 0 && <Badge color="red" ml={4}>{open.data?.next ? `${shown}+` : n}</Badge>}
        </>
      }
      actions={<Link to="/incidents">All incidents</Link>}
    >
      <Loaded query={open} thing="incidents" rows={2} rowHeight={40}>
        {(page) => (page.rows.length === 0 ? <None /> : stoppedFirst(page.rows).map((i) => <Row key={i.id} incident={i} />))}
      </Loaded>
    </Section>
  )
}

// Whoever is off waits for the reader; the rest can wait a little.
function stops(incident: Incident): boolean {
  return ['kill', 'halt'].includes(incident.action) && !incident.shadow
}

function stoppedFirst(incidents: Incident[]): Incident[] {
  return incidents.toSorted((a, b) => Number(stops(b)) - Number(stops(a)))
}

function None() {
  const calling = useQuery(statsQuery({ since: '24h', step: '1h', by: 'agent' })).data?.groups?.length
  return (
    <Empty icon={<IconAlertOctagon size={20} />} title="No open incidents">
      {calling ? `${times(calling, 'agent is', 'agents are')} calling and none has run away.` : 'No agent has run away.'}
    </Empty>
  )
}

function Row({ incident }: { incident: Incident }) {
  const now = useNow()
  return (
    <div className={classes.incident}>
      <div>
        <ActionBadge incident={incident} />
      </div>
      <div style={{ minWidth: 0 }}>
        <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
          {incident.sentence}
        </Text>
        <Text size="xs" c="dimmed" className="clip">
          {[incident.detector, incident.session && `session ${incident.session}`, incident.shadow && 'Kill Switch is off, so haltd only observes']
            .filter(Boolean)
            .join(' · ')}
        </Text>
      </div>
      <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
        {ago(incident.time, now)}
      </Text>
      <ButtonLink
        to="/incidents/$id"
        params={{ id: incident.id }}
        variant={stops(incident) ? 'filled' : 'default'}
        aria-label={`Decide: ${incident.sentence}`}
      >
        Decide
      </ButtonLink>
    </div>
  )
}
