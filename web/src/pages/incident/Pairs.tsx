import { Code, Group, NativeSelect, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { eventQuery } from '../../api/events'
import { statusQuery } from '../../api/service'
import type { Event, Excerpt } from '../../api/shapes'
import { differences, type Run } from '../../format/differences'
import { bytes } from '../../format/figures'
import { clock } from '../../format/time'
import { Said } from '../../parts/Said'
import { Section } from '../../parts/Section'
import { type Entry, type Lane, named, type Scene } from './scene'
import classes from './incident.module.css'

interface Props {
  scene: Scene
  chosen: { lane: Lane; index: number } | undefined
  onChoose: (lane: Lane, index: number) => void
}

const lanes: { lane: Lane; name: string; part: keyof Excerpt }[] = [
  { lane: 'prompt', name: 'Prompt', part: 'prompt' },
  { lane: 'response', name: 'Response', part: 'reply' },
  { lane: 'tools', name: 'Tool calls', part: 'tool_calls' },
]

/** Pairs are the calls that match, side by side: by what they said where
 *  excerpts are stored, else by their hashes. */
export function Pairs({ scene, chosen, onChoose }: Props) {
  return (
    <Section title="Matching calls, side by side">
      {lanes
        .filter(({ lane }) => scene.matches[lane].length > 0)
        .map(({ lane, name, part }) => {
          const matches = scene.matches[lane]
          const index = chosen?.lane === lane ? chosen.index : matches[matches.length - 1]!
          return (
            <div key={lane} className={classes.pair}>
              <div>
                <Text size="sm" fw={600}>
                  {name}
                </Text>
                <Text size="xs">{lane === 'tools' ? 'identical' : `distance ${scene.entries[index]!.distance[lane] ?? 0} of 64`}</Text>
                {lane !== 'tools' && (
                  <Text size="xs" c="dimmed">
                    similar below 3
                  </Text>
                )}
                {matches.length > 1 && (
                  <NativeSelect
                    mt="xs"
                    size="xs"
                    aria-label={`${name}: earlier call`}
                    value={String(index)}
                    onChange={(e) => onChoose(lane, Number(e.currentTarget.value))}
                    data={matches.map((m) => ({ value: String(m), label: label(scene.entries[m]!) }))}
                  />
                )}
              </div>
              <Sides earlier={scene.entries[index]!} later={scene.entries[scene.compared[lane]]!} lane={lane} name={name} part={part} />
            </div>
          )
        })}
      <Footnote call={scene.entries.at(-1)!.event} />
    </Section>
  )
}

function label(e: Entry): string {
  return e.number === undefined ? clock(e.event.time) : `#${e.number}`
}

function Sides({ earlier, later, lane, name, part }: { earlier: Entry; later: Entry; lane: Lane; name: string; part: keyof Excerpt }) {
  const before = useQuery(eventQuery(earlier.event.id)).data?.excerpt?.[part]
  const after = useQuery(eventQuery(later.event.id)).data?.excerpt?.[part]
  const [left, right] = useMemo(() => (before && after ? differences(before, after) : [alone(before), alone(after)]), [before, after])
  return (
    <>
      <Side entry={earlier} lane={lane} when="Earlier call" said={left} label={`${name} of the earlier call`} />
      <Side entry={later} lane={lane} when="Later call" said={right} label={`${name} of the later call`} />
    </>
  )
}

function alone(text: string | undefined): Run[] | undefined {
  return text ? [{ text, differs: false }] : undefined
}

function Side({ entry, lane, when, said, label }: { entry: Entry; lane: Lane; when: string; said: Run[] | undefined; label: string }) {
  const { hash, size } = textOf(entry.event, lane)
  return (
    <div>
      <Group justify="space-between" fz={12} mb={4}>
        <span>
          <b>{named(entry)}</b> <span className="muted">· {when}</span>
        </span>
        <span className="muted">{clock(entry.event.time)}</span>
      </Group>
      {said ? (
        <Said runs={said} label={label} />
      ) : (
        <Text className="mono" style={{ overflowWrap: 'anywhere' }}>
          {lane === 'tools' ? (entry.event.tool_calls ?? []).join(', ') || 'no tool call' : hash ? spaced(hash) : 'no text'}
        </Text>
      )}
      {lane !== 'tools' && size > 0 && (
        <Text size="xs" c="dimmed" mt={4}>
          {bytes(size)}
        </Text>
      )}
    </div>
  )
}

// Footnote says what was compared, and how to see more of it.
function Footnote({ call }: { call: Event }) {
  const event = useQuery(eventQuery(call.id))
  const status = useQuery(statusQuery)
  if (!event.data || !status.data) return null
  return (
    <Text size="xs" c="dimmed" pt="sm" style={{ borderTop: '1px solid var(--border)' }}>
      {event.data.excerpt
        ? 'Words that differ are marked. Long texts are shortened; keys, passwords and addresses are taken out. Timestamps, ids and numbers were masked before the texts were compared.'
        : 'Of single calls haltd stores hashes, not text; the text that proves this incident is above, as far as it was kept. Timestamps, ids and numbers were masked before the texts were compared, so texts may match although their hashes differ.'}
      {!event.data.excerpt && status.data.excerpts !== 'on' && (
        <>
          {' '}
          To read each later call, set <Code fz={11}>excerpts: on</Code> in the configuration and reload it.
        </>
      )}
    </Text>
  )
}

function textOf(e: Event, lane: Lane): { hash: string; size: number } {
  return lane === 'prompt' ? { hash: e.prompt_hash ?? '', size: e.prompt_bytes } : { hash: e.reply_hash ?? '', size: e.reply_bytes }
}

function spaced(hash: string): string {
  return hash.replace(/(.{4})(?=.)/g, '$1 ')
}
