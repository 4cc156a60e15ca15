import { Text } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import type { Signal } from '../../api/shapes'
import { certain } from '../../format/figures'
import { Section } from '../../parts/Section'
import { certaintyOf, fills, inks, linesOf, reachOf, roundsOf, toolsOf, whole } from './certainty'
import classes from './reasons.module.css'

interface Props {
  stall: Signal
  /** the call at which it was decided */
  call: string
}

/** CertaintyCard is how certain stall was after each round of its evidence,
 *  and at the call in question. */
export function CertaintyCard({ stall, call }: Props) {
  const rounds = roundsOf(stall)
  const final = certaintyOf(stall)
  if (rounds.length === 0 || final === undefined) return null
  // Letters name rounds that are equal; where none is, they say nothing.
  const named = new Set(rounds.map((r) => r.letter)).size < rounds.length
  const marks: Mark[] = rounds.map((r) => ({ key: String(r.index), value: r.certainty, label: String(r.index + 1), letter: named ? r.letter : undefined, says: `Round ${r.index + 1}${r.tool ? `, ${r.tool}` : ''}` }))
  marks.push({ key: 'call', value: stall.certainty ?? final, shown: final, label: call, says: `At ${call}` })
  return (
    <Section title="Certainty after each round">
      <Chart marks={marks} stall={stall} />
      <Text size="xs" c="dimmed" mt="xs" style={{ overflowWrap: 'anywhere' }}>
        Rounds of the conversation that repeat, or are repeated{stall.family === 'chatter' ? '' : `: ${toolsOf(rounds)}`}. The last bar is the call at which haltd decided.
      </Text>
    </Section>
  )
}

interface Mark {
  key: string
  value: number
  /** as it is written elsewhere on the page */
  shown?: number
  label: string
  letter?: string
  says: string
}

const height = 288
const top = 20
const base = 244
const left = 44
const right = 80
const widest = 28

function Chart({ marks, stall }: { marks: Mark[]; stall: Signal }) {
  const { ref, width } = useElementSize()
  const lines = linesOf(stall)
  const step = Math.max(width - left - right, 1) / marks.length
  const x = (i: number) => left + (i + 0.5) * step
  const y = (v: number) => base - (v / 100) * (base - top)
  const wide = Math.min(step * 0.6, widest)
  const last = marks.length - 1
  // Words need room: where it is narrow, some are left out, never the last.
  const every = Math.max(1, Math.ceil(34 / step))
  const roomy = step >= 30
  // No line may strike a figure through.
  const above = (v: number) => {
    const at = Math.min(y(v), base - 2) - 5
    const struck = [lines.kill, lines.warn].find((l) => l !== undefined && at > y(l) && at < y(l) + 13)
    return struck === undefined ? at : y(struck) - 5
  }
  const killLabel = lines.kill === undefined ? 0 : y(lines.kill) + 4
  const warnLabel = lines.warn === undefined ? 0 : Math.max(y(lines.warn) + 4, lines.kill === undefined ? 0 : killLabel + 15)
  return (
    <div ref={ref}>
      <svg width="100%" height={height} className={classes.chart} role="img" aria-label={inWords(marks, lines)}>
        {width > 0 && (
          <>
            {[0, 100].map((v) => (
              <g key={v}>
                <line x1={left} x2={width - right} y1={y(v)} y2={y(v)} stroke="var(--border)" />
                <text x={left - 6} y={y(v) + 4} textAnchor="end">
                  {v} %
                </text>
              </g>
            ))}
            <text x={0} y={base + 18}>
              Round
            </text>
            {marks.map((m, i) => {
              const reach = reachOf(m.value, lines)
              const tall = Math.max(base - y(m.value), 2)
              const numbered = (last - i) % every === 0
              return (
                <g key={m.key}>
                  <rect x={x(i) - wide / 2} y={base - tall} width={wide} height={tall} rx={2} fill={fills[reach]} />
                  {(roomy || i === last) && (
                    <text x={x(i)} y={above(m.value)} textAnchor="middle" style={{ fill: inks[reach], fontWeight: i === last ? 600 : 400 }}>
                      {m.shown ?? whole(m.value, lines)}
                    </text>
                  )}
                  {numbered && (
                    <text x={x(i)} y={base + 18} textAnchor="middle" style={i === last ? { fill: 'var(--text)', fontWeight: 600 } : undefined}>
                      {m.label}
                    </text>
                  )}
                  {numbered && m.letter && (
                    <text x={x(i)} y={base + 34} textAnchor="middle" style={{ fill: 'var(--amber)', fontWeight: 600 }}>
                      {m.letter}
                    </text>
                  )}
                  <rect x={x(i) - step / 2} y={top} width={step} height={base - top} fill="transparent">
                    <title>{`${m.says}: ${certain(m.shown ?? m.value)}`}</title>
                  </rect>
                </g>
              )
            })}
            {lines.warn !== undefined && (
              <>
                <line x1={left} x2={width - right} y1={y(lines.warn)} y2={y(lines.warn)} stroke="var(--amber-fill)" strokeWidth={1.5} strokeDasharray="4 3" pointerEvents="none" />
                <text x={width - right + 6} y={warnLabel} style={{ fill: 'var(--amber)' }}>
                  warn {certain(lines.warn)}
                </text>
              </>
            )}
            {lines.kill !== undefined && (
              <>
                <line x1={left} x2={width - right} y1={y(lines.kill)} y2={y(lines.kill)} stroke="var(--red-fill)" strokeWidth={1.5} pointerEvents="none" />
                <text x={width - right + 6} y={killLabel} style={{ fill: 'var(--red)', fontWeight: 600 }}>
                  kill {certain(lines.kill)}
                </text>
              </>
            )}
          </>
        )}
      </svg>
    </div>
  )
}

// inWords is what the drawing says, for whoever does not see it.
function inWords(marks: Mark[], { warn, kill }: { warn?: number; kill?: number }): string {
  const lines = [warn !== undefined && `warn line ${certain(warn)}`, kill !== undefined && `kill line ${certain(kill)}`].filter(Boolean).join(', ')
  return `Certainty after each round${lines && `, ${lines}`}. ${marks.map((m) => `${m.says}: ${certain(m.shown ?? m.value)}`).join('. ')}`
}
