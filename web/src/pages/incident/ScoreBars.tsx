import { clock } from '../../format/time'
import type { Measure } from './measure'
import { type Entry, named } from './scene'
import type { Place } from './WindowTimeline'

interface Props {
  place: Place
  y: number
  entries: Entry[]
  measure: Measure
  stopped: boolean
  loopFrom?: number
}

const room = 80
const widest = 20

const fills = { gray: 'var(--control-border)', amber: 'var(--amber-fill)', red: 'var(--red-fill)' }

/** ScoreBars is the score or the certainty at each call, its number, its round
 *  and its time. */
export function ScoreBars({ place, y, entries, measure, stopped, loopFrom }: Props) {
  const base = y + room + 12
  const most = Math.max(measure.reaches, ...entries.map(measure.of))
  const tall = (v: number) => (v / most) * (room - 12)
  const last = entries.length - 1
  const drawn = entries.map((e, i) => ({ e, i })).filter(({ i }) => i >= place.first)
  // Numbers need room: where it is narrow, some are left out, never the last.
  const every = Math.max(1, Math.ceil(40 / place.step))
  const lines = measure.lines.map((l) => ({ ...l, y: base - tall(l.at) }))
  // Names of lines that stand close to each other go apart, the lower one down.
  const highest = Math.min(...lines.map((l) => l.y))
  const labelAt = (y: number) => (y > highest && y - highest < 14 ? highest + 14 : y) + 4
  return (
    <g>
      {lines.map((l) => (
        <g key={l.name}>
          <line x1={place.left} x2={place.right} y1={l.y} y2={l.y} stroke={`var(--${l.color}-fill)`} strokeDasharray={l.dashed ? '4 3' : undefined} />
          {place.wide && (
            <text x={place.right + 8} y={labelAt(l.y)} style={{ fill: `var(--${l.color})` }}>
              {l.name}
            </text>
          )}
        </g>
      ))}
      {!place.wide && (
        <text x={place.left} y={y + 4}>
          <tspan style={{ fill: 'var(--text)', fontWeight: 600 }}>{measure.name}</tspan> {lines.map((l) => `${l.name}, ${l.dashed ? 'dashed' : 'solid'}`).join('; ')}
        </text>
      )}
      {place.wide && (
        <>
          <text x={0} y={base - 18} style={{ fill: 'var(--text)', fontWeight: 600 }}>{measure.name}</text>
          <text x={0} y={base - 2}>at each call</text>
          <text x={0} y={base + 20} style={{ fill: 'var(--text)', fontWeight: 600 }}>Call</text>
          <text x={0} y={base + 36}>round, time</text>
        </>
      )}
      {drawn.map(({ e, i }) => {
        const value = measure.of(e)
        const inLoop = loopFrom !== undefined && i >= loopFrom
        const color = measure.color(e, inLoop)
        const over = color === 'red'
        const h = Math.max(tall(value), 2)
        const w = Math.min(place.step * 0.55, widest)
        const ink = i === last && stopped ? 'var(--red)' : inLoop ? 'var(--text)' : 'var(--muted)'
        const numbered = (last - i) % every === 0
        // No line may strike a figure through.
        const above = base - h - 4
        const struck = lines.find((l) => above > l.y && above < l.y + 12)
        const figure = struck ? struck.y - 4 : above
        return (
          <g key={e.event.id}>
            <rect x={place.x(i) - w / 2} y={base - h} width={w} height={h} rx={2} fill={fills[color]} />
            {value > 0 && (numbered || over) && (
              <text x={place.x(i)} y={figure} textAnchor="middle" style={{ fill: over ? 'var(--red)' : 'var(--text)', fontWeight: over ? 600 : 400 }}>
                {measure.write(value)}
              </text>
            )}
            {numbered && (
              <text x={place.x(i)} y={base + 20} textAnchor="middle" style={{ fill: ink, fontWeight: i === last ? 600 : 400 }}>
                {e.number === undefined ? '·' : named(e)}
              </text>
            )}
            {e.letter && (
              <text x={place.x(i)} y={base + 36} textAnchor="middle" style={{ fill: 'var(--amber)', fontWeight: 600 }}>
                {e.letter}
              </text>
            )}
          </g>
        )
      })}
      <Times place={place} drawn={drawn} y={base + 54} />
      <Letters place={place} entries={entries} y={base + 20} />
    </g>
  )
}

function Times({ place, drawn, y }: { place: Place; drawn: { e: Entry; i: number }[]; y: number }) {
  const first = drawn[0]
  const end = drawn[drawn.length - 1]
  if (!first || !end) return null
  return (
    <>
      <text x={Math.max(place.x(first.i) - 24, place.left)} y={y}>
        {clock(first.e.event.time)}
      </text>
      <text x={Math.min(place.x(end.i) + 24, place.right + (place.wide ? 24 : 0))} y={y} textAnchor="end">
        {clock(end.e.event.time)}
      </text>
    </>
  )
}

// Which tool each letter stands for.
function Letters({ place, entries, y }: { place: Place; entries: Entry[]; y: number }) {
  if (!place.wide) return null
  const tools = new Map<string, string>()
  for (const e of entries) if (e.letter) tools.set(e.letter, (e.event.tool_calls ?? []).join(', ') || 'text')
  return (
    <>
      {[...tools].slice(0, 3).map(([letter, tool], i) => (
        <text key={letter} x={place.right + 8} y={y + i * 16}>
          <tspan style={{ fill: 'var(--amber)', fontWeight: 600 }}>{letter}</tspan> {tool.length > 13 ? `${tool.slice(0, 12)}…` : tool}
          <title>{tool}</title>
        </text>
      ))}
    </>
  )
}
