import { Group, NativeSelect, Text } from '@mantine/core'
import type { Event } from '../../api/shapes'
import { bytes } from '../../format/figures'
import { clock } from '../../format/time'
import { Section } from '../../parts/Section'
import { type Entry, type Lane, named, type Scene } from './scene'
import classes from './incident.module.css'

interface Props {
  scene: Scene
  chosen: { lane: Lane; index: number } | undefined
  onChoose: (lane: Lane, index: number) => void
}

const lanes: { lane: Lane; name: string }[] = [
  { lane: 'prompt', name: 'Prompt' },
  { lane: 'response', name: 'Response' },
  { lane: 'tools', name: 'Tool calls' },
]

/** Pairs are the calls that match, side by side, by their hashes: prompt text
 *  is not stored. */
export function Pairs({ scene, chosen, onChoose }: Props) {
  return (
    <Section title="Matching calls, side by side">
      {lanes
        .filter(({ lane }) => scene.matches[lane].length > 0)
        .map(({ lane, name }) => {
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
              <Side entry={scene.entries[index]!} lane={lane} when="Earlier call" />
              <Side entry={scene.entries[scene.compared[lane]]!} lane={lane} when="Later call" />
            </div>
          )
        })}
      <Text size="xs" c="dimmed" pt="sm" style={{ borderTop: '1px solid var(--border)' }}>
        Prompt text is not stored. Timestamps, ids and numbers were masked before the texts were compared, so that equal texts may have different hashes.
      </Text>
    </Section>
  )
}

function label(e: Entry): string {
  return e.number === undefined ? clock(e.event.time) : `#${e.number}`
}

function Side({ entry, lane, when }: { entry: Entry; lane: Lane; when: string }) {
  const { hash, size } = textOf(entry.event, lane)
  return (
    <div>
      <Group justify="space-between" fz={12}>
        <span>
          <b>{named(entry)}</b> <span className="muted">· {when}</span>
        </span>
        <span className="muted">{clock(entry.event.time)}</span>
      </Group>
      <Text className="mono" mt={4} style={{ overflowWrap: 'anywhere' }}>
        {lane === 'tools' ? (entry.event.tool_calls ?? []).join(', ') || 'no tool call' : hash ? spaced(hash) : 'no text'}
      </Text>
      {lane !== 'tools' && size > 0 && (
        <Text size="xs" c="dimmed">
          {bytes(size)}
        </Text>
      )}
    </div>
  )
}

function textOf(e: Event, lane: Lane): { hash: string; size: number } {
  return lane === 'prompt' ? { hash: e.prompt_hash ?? '', size: e.prompt_bytes } : { hash: e.reply_hash ?? '', size: e.reply_bytes }
}

function spaced(hash: string): string {
  return hash.replace(/(.{4})(?=.)/g, '$1 ')
}
