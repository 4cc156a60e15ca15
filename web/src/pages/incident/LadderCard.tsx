import { Text, Timeline } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { newestEvents } from '../../api/events'
import type { Event, Incident, Verdict } from '../../api/shapes'
import { verdictOf } from '../../api/verdict'
import { full } from '../../format/time'
import { Quote } from '../../parts/Quote'
import { Section } from '../../parts/Section'
import { endedByItself, rungTitles } from './rungWords'

type Rung = NonNullable<Verdict['rungs']>[number]

const second = 1000

/** LadderCard is which rungs were climbed, in the order in which it happened,
 *  each with what it did: the note of a steer word for word. */
export function LadderCard({ incident, verdict }: { incident: Incident; verdict: Verdict }) {
  const outcome = endedByItself(incident)
  const rungs = verdict.rungs ?? []
  const own = verdict.findings?.find((f) => f.note)?.note
  const steered = rungs.some((r) => r.action === 'steer')
  const until = new Date(new Date(incident.time).getTime() + second).toISOString()
  const notes = useQuery({ ...newestEvents({ agent: incident.agent, session: incident.session, type: ['steer'], until }, 20), enabled: steered }).data?.rows
  if (rungs.length < 2 && !own) return null
  return (
    <Section title="Ladder" aside={rungs.map((r) => rungTitles[r.action].toLowerCase()).join(' → ')}>
      <Timeline active={rungs.length} bulletSize={12} lineWidth={2}>
        {rungs.map((r, i) => (
          <Timeline.Item key={i} title={<Text size="sm" fw={600}>{`${r.shadow ? 'Would have been ' : ''}${r.shadow ? rungTitles[r.action].toLowerCase() : rungTitles[r.action]} at round ${r.round}`}</Text>}>
            <Text size="xs" c="dimmed">
              {full(r.time)}
              {!r.shadow && <> · {does[r.action]}</>}
            </Text>
            {r.action === 'steer' && <Note text={noteOf(r, notes) ?? (i === rungs.length - 1 ? own : undefined)} />}
          </Timeline.Item>
        ))}
        {incident.kind === 'steer' && (
          <Timeline.Item title={<Text size="sm" fw={600}>{outcome ?? 'Waiting for the next rounds'}</Text>}>
            <Text size="xs" c="dimmed">
              {outcome ? incident.note : 'Whether they bring something new will be shown here.'}
            </Text>
          </Timeline.Item>
        )}
      </Timeline>
    </Section>
  )
}

const does: Record<Rung['action'], string> = {
  warn: 'Forwarded unchanged.',
  steer: 'Forwarded with this note after the last tool result; nothing before it changed.',
  reject: 'Answered with HTTP 429.',
  halt: 'The turn ended.',
  kill: 'Not forwarded.',
}

function Note({ text }: { text: string | undefined }) {
  if (!text) return null
  return (
    <div style={{ marginTop: 4, paddingLeft: 12, borderLeft: '3px solid var(--accent)' }}>
      <Quote plain text={text} />
    </div>
  )
}

// noteOf is the note that was added at a rung.
function noteOf(rung: Rung, events: Event[] | undefined): string | undefined {
  const at = new Date(rung.time).getTime()
  const event = events?.find((e) => Math.abs(new Date(e.time).getTime() - at) < second && verdictOf(e).rungs?.at(-1)?.round === rung.round)
  return event && verdictOf(event).findings?.find((f) => f.note)?.note
}
