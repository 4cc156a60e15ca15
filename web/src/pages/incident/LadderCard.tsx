import { Text, Timeline } from '@mantine/core'
import type { Incident, Verdict } from '../../api/shapes'
import { full } from '../../format/time'
import { Section } from '../../parts/Section'
import { upper } from '../../parts/settings'
import { endedByItself } from './rungWords'

/** LadderCard is which rungs were climbed, and the note that a steer added. */
export function LadderCard({ incident, verdict }: { incident: Incident; verdict: Verdict }) {
  const outcome = endedByItself(incident)
  const rungs = verdict.rungs ?? []
  const note = verdict.findings?.find((f) => f.note)?.note
  if (rungs.length < 2 && !note) return null
  return (
    <Section title="Ladder">
      <Timeline active={rungs.length} bulletSize={12} lineWidth={2}>
        {rungs.map((r, i) => (
          <Timeline.Item key={i} title={`${r.shadow ? 'Would ' : ''}${r.shadow ? r.action : upper(r.action)} at round ${r.round}`}>
            <Text size="xs" c="dimmed">
              {full(r.time)}
            </Text>
          </Timeline.Item>
        ))}
        {incident.kind === 'steer' && (
          <Timeline.Item title={outcome ?? 'Waiting for the next rounds'}>
            <Text size="xs" c="dimmed">
              {outcome ? incident.note : 'Whether they bring something new will be shown here.'}
            </Text>
          </Timeline.Item>
        )}
      </Timeline>
      {note && (
        <Text size="sm" mt="sm" style={{ overflowWrap: 'anywhere' }}>
          {note}
        </Text>
      )}
    </Section>
  )
}
