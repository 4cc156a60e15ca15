import { Badge, Text } from '@mantine/core'
import { IconAlertOctagon } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { memo } from 'react'
import { incidentCounts } from '../../api/incidents'
import type { ListedIncident } from '../../api/shapes'
import { count, money, times } from '../../format/figures'
import { Ago } from '../../parts/Ago'
import { ButtonLink } from '../../parts/ButtonLink'
import { Empty } from '../../parts/Empty'
import { ActionBadge, isStop } from '../../parts/IncidentBadges'
import { Loaded } from '../../parts/Loaded'
import { Section } from '../../parts/Section'
import { openIncidents, overviewStats } from './ask'
import classes from './overview.module.css'

/** OpenIncidents is what waits for a decision, those first that stopped
 *  somebody: they wait for the reader, the rest can wait a little. */
export function OpenIncidents() {
  const open = useQuery(openIncidents)
  const all = useQuery(incidentCounts({ status: 'open' })).data
  const stopped = (all?.counts ?? []).filter((c) => ['kill', 'halt'].includes(c.action) && !c.shadow).reduce((n, c) => n + c.count, 0)
  const more = (all?.total ?? 0) - (open.data?.rows.length ?? 0)
  return (
    <Section
      title={
        <>
          Open incidents {all && all.total > 0 && <Badge color="red" ml={4}>{count(all.total)}</Badge>}
        </>
      }
      aside={stopped > 0 ? `${count(stopped)} stopped` : undefined}
      actions={<Link to="/incidents" search={{ status: 'all' }}>All incidents</Link>}
    >
      <Loaded query={open} thing="incidents" rows={2} rowHeight={40}>
        {(page) => (page.rows.length === 0 ? <None /> : page.rows.map((i) => <Row key={i.id} incident={i} />))}
      </Loaded>
      {more > 0 && (
        <Link to="/incidents" search={{ sort: 'stops' }}>
          {count(more)} more
        </Link>
      )}
    </Section>
  )
}

function None() {
  const calling = useQuery(overviewStats('24h')).data?.group_count
  return (
    <Empty icon={<IconAlertOctagon size={20} />} title="No open incidents">
      {calling ? `${times(calling, 'agent', 'agents')} called in the last 24 hours. No incident is waiting for a decision.` : 'No incident is waiting for a decision.'}
    </Empty>
  )
}

const Row = memo(function Row({ incident }: { incident: ListedIncident }) {
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
          {incident.detector}
          {incident.session && <> · session <bdi>{incident.session}</bdi></>}
          {incident.shadow && ' · Kill Switch is off, so haltd only observes'}
        </Text>
      </div>
      <Text size="xs" c="dimmed" ta="right" component="div" style={{ whiteSpace: 'nowrap' }}>
        {incident.burned_calls > 0 && (
          <Text size="sm" c={isStop(incident) ? 'var(--red)' : 'var(--amber)'} component="div">
            {money(incident.burned_usd)} burned
          </Text>
        )}
        <Ago time={incident.time} />
      </Text>
      <ButtonLink
        to="/incidents/$id"
        params={{ id: incident.id }}
        variant={isStop(incident) ? 'filled' : 'default'}
        aria-label={`Decide: ${incident.sentence}`}
      >
        Decide
      </ButtonLink>
    </div>
  )
})
