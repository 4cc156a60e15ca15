import { Text, Timeline } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { newestEvents } from '../../api/events'
import { useSections } from '../../api/settings'
import type { IncidentDetail } from '../../api/shapes'
import { brief } from '../../format/time'
import { auditWords } from '../../parts/auditWords'
import { Loaded } from '../../parts/Loaded'
import { Section } from '../../parts/Section'

/** Audit is who changed what about this agent, the newest first. */
export function Audit({ incident }: { incident: IncidentDetail }) {
  const sections = useSections()
  const query = useQuery(newestEvents({ agent: incident.agent, type: ['policy_change', 'kill_switch', 'halt', 'warning'] }, 6))
  return (
    <Section
      title="History"
      actions={
        <Link to="/events" search={{ agent: incident.agent }}>
          All events
        </Link>
      }
    >
      <Loaded query={query} thing="the history">
        {(page) =>
          page.rows.length === 0 ? (
            <Text size="sm" c="dimmed">
              Nothing has been changed yet.
            </Text>
          ) : (
            <Timeline bulletSize={10} lineWidth={2} active={-1} color="accent">
              {page.rows.map((e) => {
                const { what, who } = auditWords(e, sections)
                return (
                  <Timeline.Item key={e.id} title={<Text size="sm" style={{ overflowWrap: 'anywhere' }}>{what}</Text>} color={e.event_type === 'kill_switch' ? 'red' : undefined} mt={12}>
                    <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                      {brief(e.time)}
                      {who && ` · ${who}`}
                    </Text>
                  </Timeline.Item>
                )
              })}
            </Timeline>
          )
        }
      </Loaded>
    </Section>
  )
}
