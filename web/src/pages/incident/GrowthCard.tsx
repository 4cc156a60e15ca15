import { useElementSize } from '@mantine/hooks'
import type { Verdict } from '../../api/shapes'
import { count } from '../../format/figures'
import { Section } from '../../parts/Section'
import classes from './incident.module.css'

/** GrowthCard shows the prompt tokens that grew, and how much each time. */
export function GrowthCard({ verdict }: { verdict: Verdict }) {
  const tokens = verdict.signals?.find((s) => s.detector === 'growth')?.tokens ?? []
  if (tokens.length === 0) return null
  return (
    <Section title="Evidence" aside="prompt tokens of the calls that were compared, each with its ratio to the one before">
      <Growth tokens={tokens} />
    </Section>
  )
}

const height = 232
const top = 24
const base = 184
const limit = 1.4

function Growth({ tokens }: { tokens: number[] }) {
  const { ref, width } = useElementSize()
  const most = Math.max(...tokens, 1)
  const step = width / tokens.length
  const x = (i: number) => (i + 0.5) * step
  const y = (n: number) => base - (n / most) * (base - top)
  const wide = Math.min(step * 0.6, 160)
  return (
    <div ref={ref}>
      <svg width="100%" height={height} className={classes.lanes} role="img" aria-label={`Prompt tokens per call: ${tokens.map(count).join(', ')}`}>
        {width > 0 && (
          <>
            <line x1={0} x2={width} y1={base} y2={base} stroke="var(--border)" />
            {tokens.map((n, i) => (
              <g key={i}>
                <rect x={x(i) - wide / 2} y={y(n)} width={wide} height={base - y(n)} fill="var(--amber-soft)" />
                <rect x={x(i) - wide / 2} y={y(n)} width={wide} height={3} rx={1} fill="var(--amber-fill)" />
                <text x={x(i)} y={y(n) - 8} textAnchor="middle" style={{ fill: 'var(--text)', fontWeight: 600 }}>
                  {count(n)}
                </text>
                {i > 0 && <Ratio from={x(i - 1)} to={x(i)} times={n / Math.max(tokens[i - 1]!, 1)} />}
              </g>
            ))}
          </>
        )}
      </svg>
    </div>
  )
}

function Ratio({ from, to, times }: { from: number; to: number; times: number }) {
  const grew = times >= limit
  return (
    <>
      <path d={`M${from + 4} ${base + 8}v6H${to - 4}v-6`} fill="none" stroke="var(--control-border)" />
      <text x={(from + to) / 2} y={base + 34} textAnchor="middle" style={grew ? { fill: 'var(--amber)', fontWeight: 600 } : undefined}>
        × {times.toFixed(2)}
      </text>
    </>
  )
}
