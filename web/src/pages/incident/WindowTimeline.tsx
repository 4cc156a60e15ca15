import { Group, Text } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useState } from 'react'
import { weights } from '../../api/verdict'
import type { Event } from '../../api/shapes'
import { clock } from '../../format/time'
import { EventDrawer } from '../../parts/EventDrawer'
import { Lanes } from './Lanes'
import type { Measure } from './measure'
import { type Entry, type Lane, named, type Scene } from './scene'
import { ScoreBars } from './ScoreBars'
import classes from './incident.module.css'

interface Props {
  scene: Scene
  measure: Measure
  stopped: boolean
  onPair: (lane: Lane, index: number) => void
}

/** Place is where things stand in the drawing. */
export interface Place {
  /** where an entry stands; entries before first are not drawn */
  x: (i: number) => number
  step: number
  first: number
  wide: boolean
  left: number
  right: number
}

const laneWords: Record<Lane, string> = { prompt: 'Prompt', response: 'Response', tools: 'Tool calls' }
const laneWeights: Record<Lane, number> = { prompt: weights.prompts, response: weights.responses, tools: weights.tools }
const narrowest = 15

/** WindowTimeline draws the calls of a window: one lane for each thing that is
 *  compared, because each compares with a call of its own, and below the
 *  measure of what decided, at each call. */
export function WindowTimeline({ scene, measure, stopped, onPair }: Props) {
  const { ref, width } = useElementSize()
  const [open, setOpen] = useState<Event>()
  const place = placeIn(width, scene.entries.length)
  const lanes: Lane[] = scene.hasMatches ? ['prompt', 'response', 'tools'] : []
  const laneHeight = place.wide ? 68 : 80
  const top = lanes.length > 0 || scene.loopFrom !== undefined ? 28 : 8
  const bars = top + lanes.length * laneHeight + 8
  const height = bars + 152
  const last = scene.entries.length - 1
  const loop = scene.loopFrom === undefined ? undefined : Math.max(scene.loopFrom, place.first)
  return (
    <div ref={ref}>
      <Legend hidden={place.first} withLanes={lanes.length > 0} />
      {width > 0 && (
        <svg width={width} height={height} className={classes.lanes} role="group" aria-label="Window of calls">
          {loop !== undefined && (
            <>
              <rect x={place.x(loop) - place.step / 2} y={top - 8} width={place.x(last) - place.x(loop)} height={bars + 100 - top} fill="var(--amber-soft)" />
              <text
                x={place.wide ? place.x(loop) - place.step / 2 + 4 : place.right}
                y={top - 14}
                textAnchor={place.wide ? 'start' : 'end'}
                style={{ fill: 'var(--amber)', fontWeight: 600 }}
              >
                loop, {named(scene.entries[loop]!)} to {named(scene.entries[last - 1] ?? scene.entries[last]!)}
              </text>
            </>
          )}
          {stopped && (
            <>
              <rect x={place.x(last) - place.step / 2} y={top - 8} width={place.step} height={bars + 100 - top} fill="var(--red-soft)" />
              {place.wide && (
                <text x={place.x(last) + place.step / 2} y={top - 14} textAnchor="end" style={{ fill: 'var(--red)', fontWeight: 600 }}>
                  stopped
                </text>
              )}
            </>
          )}
          {lanes.map((lane, i) => (
            <Lanes
              key={lane}
              place={place}
              y={top + (i + 1) * laneHeight - 24}
              height={laneHeight - 30}
              name={laneWords[lane]}
              weight={laneWeights[lane]}
              entries={scene.entries}
              matches={scene.matches[lane]}
              compared={scene.compared[lane]}
              stop={lane === lanes.find((l) => scene.matches[l].some((m) => m >= place.first))}
              distance={(e) => e.distance[lane]}
              onPair={(index) => onPair(lane, index)}
            />
          ))}
          <ScoreBars place={place} y={bars} entries={scene.entries} measure={measure} stopped={stopped} loopFrom={scene.loopFrom} />
          {scene.entries.map((e, i) =>
            i < place.first ? null : (
              <rect
                key={e.event.id}
                x={place.x(i) - place.step / 2}
                y={bars}
                width={place.step}
                height={96}
                fill="transparent"
                style={{ cursor: 'pointer' }}
                onClick={() => setOpen(e.event)}
              >
                <title>{tip(e, measure)}</title>
              </rect>
            ),
          )}
        </svg>
      )}
      <EventDrawer event={open} onClose={() => setOpen(undefined)} />
    </div>
  )
}

function placeIn(width: number, n: number): Place {
  const wide = width > 640
  const left = wide ? 136 : 4
  const right = wide ? 104 : 8
  const room = Math.max(width - left - right, 1)
  const drawn = Math.min(n, Math.max(Math.floor(room / narrowest), 2))
  const step = room / drawn
  const first = n - drawn
  return { x: (i) => left + (i - first + 0.5) * step, step, first, wide, left, right: width - right }
}

function Legend({ hidden, withLanes }: { hidden: number; withLanes: boolean }) {
  return (
    <Group justify="space-between" gap="sm" mb="xs">
      <Text size="xs" c="dimmed">
        {hidden > 0 && `${hidden} earlier calls are not drawn`}
      </Text>
      {withLanes && (
        <Group gap="sm" fz={12} c="dimmed">
          <span>
            <Ring fill="var(--accent)" stroke="var(--accent)" /> matches
          </span>
          <span>
            <Ring fill="var(--surface)" stroke="var(--red-fill)" /> compared call
          </span>
          <span>
            <Ring fill="var(--surface)" stroke="var(--control-border)" /> no match
          </span>
        </Group>
      )}
    </Group>
  )
}

function Ring({ fill, stroke }: { fill: string; stroke: string }) {
  return (
    <svg width={10} height={10} aria-hidden="true">
      <circle cx={5} cy={5} r={3.5} fill={fill} stroke={stroke} strokeWidth={1.5} />
    </svg>
  )
}

function tip(e: Entry, measure: Measure): string {
  const tools = (e.event.tool_calls ?? []).join(', ')
  return `${named(e)}  ${clock(e.event.time)}  ${measure.name.toLowerCase()} ${measure.write(measure.of(e))}${tools ? `  ${tools}` : ''}`
}
