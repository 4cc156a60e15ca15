import { useElementSize } from '@mantine/hooks'
import type { Event } from '../../api/shapes'
import { short } from '../../format/figures'
import { levelsOf } from '../../parts/levels'
import type { Scene } from '../incident/scene'
import classes from './session.module.css'

const height = 148
const top = 20
const base = 120
const left = 48

/** TokenChart is the prompt tokens of each call, with the window framed and
 *  the repetition shaded. */
export function TokenChart({ calls, scene }: { calls: Event[]; scene: Scene | undefined }) {
  const { ref, width } = useElementSize()
  const sent = calls.map((c, i) => ({ c, i })).filter(({ c }) => c.tokens.input > 0)
  const most = Math.max(...sent.map(({ c }) => c.tokens.input), 1)
  const levels = levelsOf(most, 1)
  const ceiling = levels[levels.length - 1]!
  const x = (i: number) => left + (calls.length < 2 ? 0 : (i / (calls.length - 1)) * Math.max(width - left - 8, 1))
  const y = (v: number) => base - (v / ceiling) * (base - top)
  const line = sent.map(({ c, i }, n) => `${n === 0 ? 'M' : 'L'}${x(i).toFixed(1)} ${y(c.tokens.input).toFixed(1)}`).join('')
  const placeOf = (index: number | undefined) => (index === undefined ? -1 : calls.findIndex((c) => c.id === scene?.entries[index]?.event.id))
  const frame = placeOf(scene ? 0 : undefined)
  const end = placeOf(scene ? scene.entries.length - 1 : undefined)
  const loop = placeOf(scene?.loopFrom)
  const ticks = ticksOf(calls.length, end + 1)
  return (
    <div ref={ref}>
      <svg width="100%" height={height} className={classes.chart} role="img" aria-label={`Prompt tokens of ${calls.length} calls, ${short(most)} at most`}>
        {width > 0 && sent.length > 0 && (
          <>
            {levels.map((v) => (
              <g key={v}>
                <line x1={left} x2={width} y1={y(v)} y2={y(v)} stroke="var(--border)" />
                <text x={left - 8} y={y(v) + 4} textAnchor="end">
                  {short(v)}
                </text>
              </g>
            ))}
            {loop >= 0 && end > loop && <rect x={x(loop)} y={top - 8} width={x(end) - x(loop)} height={base - top + 8} fill="var(--amber-soft)" />}
            <path d={`${line}V${base}H${x(sent[0]!.i)}Z`} fill="var(--accent)" opacity={0.12} />
            <path d={line} fill="none" stroke="var(--accent)" strokeWidth={1.5} />
            {frame >= 0 && end > frame && <rect x={x(frame)} y={top - 8} width={x(end) - x(frame)} height={base - top + 8} fill="none" stroke="var(--control-border)" />}
            {end >= 0 && <line x1={x(end)} x2={x(end)} y1={top - 8} y2={base} stroke="var(--red-fill)" strokeWidth={1.5} />}
            {ticks.map((n) => (
              <text key={n} x={x(n - 1)} y={base + 20} textAnchor={n === 1 ? 'start' : n === calls.length ? 'end' : 'middle'} style={n - 1 === end ? { fill: 'var(--red)', fontWeight: 600 } : undefined}>
                #{n}
              </text>
            ))}
          </>
        )}
      </svg>
    </div>
  )
}

// The call in question is always among them, without a neighbour too near.
function ticksOf(n: number, marked: number): number[] {
  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find((s) => n / s <= 10) ?? 1000
  const ticks = [1]
  for (let i = step; i < n - step / 2; i += step) if (i - 1 > step / 2) ticks.push(i)
  if (n > 1) ticks.push(n)
  return marked > 0 ? [...ticks.filter((t) => Math.abs(t - marked) >= step), marked] : ticks
}
