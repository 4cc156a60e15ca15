import { Text, Timeline } from '@mantine/core'
import type { Verdict } from '../../api/shapes'
import { full } from '../../format/time'
import { Section } from '../../parts/Section'
import { upper } from '../../parts/settings'

/** LadderCard is which rungs were climbed, and the note that a steer added. */
export function LadderCard({ verdict }: { verdict: Verdict }) {
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
      </Timeline>
      {note && (
        <Text size="sm" mt="sm" style={{ overflowWrap: 'anywhere' }}>
          {note}
        </Text>
      )}
    </Section>
  )
}
