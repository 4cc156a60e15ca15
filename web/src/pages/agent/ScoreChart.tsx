import { useElementSize } from '@mantine/hooks'
import type { Event } from '../../api/shapes'
import { score, times } from '../../format/figures'
import { clock } from '../../format/time'
import classes from './agent.module.css'

interface Props {
  calls: Event[]
  threshold: number
  onOpen: (call: Event) => void
}

const height = 312
const top = 12
const base = 264
const left = 32
const right = 72

/** ScoreChart is one step per call against the threshold, with the sessions
 *  bracketed below. */
export function ScoreChart({ calls, threshold, onOpen }: Props) {
  const { ref, width } = useElementSize()
  const most = Math.max(threshold * 1.4, ...calls.map((c) => c.score * 1.1))
  const step = Math.max(width - left - right, 1) / calls.length
  const x = (i: number) => left + i * step
  const y = (v: number) => base - (v / most) * (base - top)
  const line = calls.map((c, i) => `${i === 0 ? 'M' : 'L'}${x(i).toFixed(1)} ${y(c.score).toFixed(1)}H${x(i + 1).toFixed(1)}`).join('')
  const last = calls[calls.length - 1]!
  const peak = Math.max(...calls.map((c) => c.score))
  const killed = last.event_type === 'kill_switch' && !last.shadow
  return (
    <div ref={ref}>
      <svg
        width="100%"
        height={height}
        className={classes.score}
        role="img"
        aria-label={`Scores of the last ${times(calls.length, 'call')}: peak ${score(peak)}, threshold ${score(threshold)}`}
      >
        {width > 0 && (
          <>
            <rect x={left} y={top} width={calls.length * step} height={y(threshold) - top} fill="var(--red-soft)" />
            {[0, threshold / 2].map((v) => (
              <g key={v}>
                <line x1={left} x2={width - right} y1={y(v)} y2={y(v)} stroke="var(--border)" />
                <text x={left - 8} y={y(v) + 4} textAnchor="end">
                  {trim(v)}
                </text>
              </g>
            ))}
            <line x1={left} x2={width - right} y1={y(threshold)} y2={y(threshold)} stroke="var(--red-fill)" strokeDasharray="4 3" />
            <text x={width - right + 8} y={y(threshold) + 4} style={{ fill: 'var(--red)' }}>
              {score(threshold)}
            </text>
            <path d={`${line}V${base}H${left}Z`} fill="var(--accent)" opacity={0.12} />
            <path d={line} fill="none" stroke="var(--accent)" strokeWidth={1.25} />
            {last.score > threshold && (
              <g>
                <circle cx={x(calls.length) - step / 2} cy={y(last.score)} r={4} fill="var(--red-fill)" />
                <text x={width - right + 8} y={Math.min(y(last.score), y(threshold) - 16) + 4} style={{ fill: 'var(--red)', fontWeight: 600 }}>
                  {score(last.score)} {killed ? 'kill' : ''}
                </text>
              </g>
            )}
            <text x={left + 8} y={y(threshold) - 8} className={classes.over}>
              {width > 480 ? `threshold: a score above this line ${killed ? 'kills' : 'would kill'}` : 'threshold'}
            </text>
            {sessionsOf(calls).map((s) => (
              <Bracket key={s.from} from={x(s.from)} to={x(s.to)} session={s} />
            ))}
            {calls.map((c, i) => (
              <rect key={c.id} x={x(i)} y={top} width={step} height={base - top} fill="transparent" style={{ cursor: 'pointer' }} onClick={() => onOpen(c)}>
                <title>{`${clock(c.time)}  ${c.model}  score ${score(c.score)}`}</title>
              </rect>
            ))}
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

function trim(v: number): string {
  return Number.isInteger(v) ? String(v) : v.toFixed(1)
}
