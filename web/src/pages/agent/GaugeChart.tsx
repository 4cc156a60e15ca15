import { useElementSize } from '@mantine/hooks'
import type { Event } from '../../api/shapes'
import { times } from '../../format/figures'
import { clock } from '../../format/time'
import { useBars } from '../../parts/useBars'
import type { Gauge } from './gauge'
import classes from './agent.module.css'

interface Props {
  calls: Event[]
  gauge: Gauge
  onOpen: (call: Event) => void
}

const height = 312
const top = 12
const base = 264
const left = 44
const right = 84

/** GaugeChart is one bar per call against the lines of what it is measured by,
 *  with the sessions bracketed below. */
export function GaugeChart({ calls, gauge, onOpen }: Props) {
  const { ref, width } = useElementSize()
  const values = calls.map(gauge.of)
  const most = Math.max(gauge.reaches, ...values.map((v) => v * 1.05))
  const step = Math.max(width - left - right, 1) / calls.length
  const x = (i: number) => left + i * step
  const y = (v: number) => base - (v / most) * (base - top)
  const wide = Math.max(step - (step > 6 ? 2 : 0), 1)
  const says = (i: number) => `${clock(calls[i]!.time)}  ${calls[i]!.model}  ${gauge.name.toLowerCase()} ${gauge.write(values[i]!)}`
  const bars = useBars({ label: gauge.name, n: calls.length, says, onOpen: (i) => onOpen(calls[i]!) })
  return (
    <div ref={ref} {...bars.props}>
      <svg
        width="100%"
        height={height}
        className={classes.score}
        role="img"
        aria-label={`${gauge.name} of the last ${times(calls.length, 'call')}: peak ${gauge.write(Math.max(...values))}, ${gauge.lines.map((l) => l.name).join(', ')}`}
      >
        {width > 0 && (
          <>
            {[0, gauge.reaches / 2, gauge.reaches].map((v) => (
              <g key={v}>
                <line x1={left} x2={width - right} y1={y(v)} y2={y(v)} stroke="var(--border)" />
                <text x={left - 8} y={y(v) + 4} textAnchor="end">
                  {gauge.tick(v)}
                </text>
              </g>
            ))}
            {calls.map((c, i) => (
              <rect key={c.id} x={x(i)} y={Math.min(y(values[i]!), base - 1)} width={wide} height={Math.max(base - y(values[i]!), 1)} fill={gauge.color(c)} />
            ))}
            {gauge.lines.map((l) => (
              <g key={l.name}>
                <line x1={left} x2={width - right} y1={y(l.at)} y2={y(l.at)} stroke={`var(--${l.color}-fill)`} strokeDasharray={l.dashed ? '4 3' : undefined} />
                <text x={width - right + 8} y={y(l.at) + 4} style={{ fill: `var(--${l.color})` }}>
                  {l.name}
                </text>
              </g>
            ))}
            {sessionsOf(calls).map((s) => (
              <Bracket key={s.from} from={x(s.from)} to={x(s.to)} session={s} />
            ))}
            {calls.map((c, i) => (
              <rect key={c.id} x={x(i)} y={top} width={step} height={base - top} fill="transparent" style={{ cursor: 'pointer' }} onClick={() => onOpen(c)}>
                <title>{says(i)}</title>
              </rect>
            ))}
            {bars.at !== undefined && (
              <>
                <rect x={x(bars.at) - 2} y={top} width={wide + 4} height={base - top} fill="none" stroke="var(--accent)" strokeWidth={2} />
                <text x={width - right} y={top + 8} textAnchor="end" style={{ fill: 'var(--text)' }}>
                  {says(bars.at)}
                </text>
              </>
            )}
          </>
        )}
      </svg>
    </div>
  )
}

interface Stretch {
  id: string
  from: number
  to: number
  start: string
}

// Calls in a row that belong to one session.
function sessionsOf(calls: Event[]): Stretch[] {
  const stretches: Stretch[] = []
  calls.forEach((c, i) => {
    const last = stretches[stretches.length - 1]
    if (last?.id === c.session) last.to = i + 1
    else stretches.push({ id: c.session, from: i, to: i + 1, start: c.time })
  })
  return stretches
}

// Ids that are alike mostly differ at their end.
function Bracket({ from, to, session }: { from: number; to: number; session: Stretch }) {
  const wide = to - from
  const fits = Math.floor(wide / 7) - 1
  return (
    <g>
      <path d={`M${from + 1} ${base + 4}v4H${to - 1}v-4`} fill="none" stroke="var(--control-border)" />
      {fits >= 8 && (
        <>
          <text x={(from + to) / 2} y={base + 24} textAnchor="middle" style={{ fill: 'var(--text)' }}>
            {session.id.length > fits ? '…' + session.id.slice(1 - fits) : session.id}
          </text>
          {wide > 140 && (
            <text x={(from + to) / 2} y={base + 40} textAnchor="middle">
              {times(session.to - session.from, 'call')}, from {clock(session.start)}
            </text>
          )}
        </>
      )}
    </g>
  )
}
