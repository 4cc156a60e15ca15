import type { AgentDetail, Event } from '../../api/shapes'
import { verdictOf } from '../../api/verdict'
import { certain, score } from '../../format/figures'

/** Gauge is what the calls of an agent are measured by, and where something
 *  follows from it. */
export interface Gauge {
  name: string
  of: (c: Event) => number
  write: (v: number) => string
  tick: (v: number) => string
  color: (c: Event) => string
  lines: { name: string; at: number; color: 'amber' | 'red'; dashed: boolean }[]
  reaches: number
}

/** certaintyGauge is how sure stall was at each call. Red is a call that it was
 *  stopped at, or would have been. */
export function certaintyGauge(agent: AgentDetail): Gauge {
  const { warn_at: warn, kill_at: kill } = agent.policy.kill_switch
  return {
    name: 'Certainty',
    of: (c) => verdictOf(c).certainty,
    write: (v) => certain(Math.round(v)),
    tick: (v) => `${v} %`,
    color: (c) => {
      const v = verdictOf(c)
      if (v.level === 'kill') return 'var(--red-fill)'
      return v.certainty >= warn ? 'var(--amber-fill)' : 'var(--gray-fill)'
    },
    lines: [
      { name: `warn ${certain(warn)}`, at: warn, color: 'amber', dashed: true },
      { name: `kill ${certain(kill)}`, at: kill, color: 'red', dashed: false },
    ],
    reaches: 100,
  }
}

/** scoreGauge is how much each call was like those before it: grey where no
 *  second signal agreed or the threshold was not exceeded, so that nothing
 *  followed from it, whatever else warned. */
export function scoreGauge(agent: AgentDetail): Gauge {
  const { threshold, require_corroboration: corroborated } = agent.policy.kill_switch
  return {
    name: 'Score',
    of: (c) => c.score,
    write: score,
    tick: (v) => (Number.isInteger(v) ? String(v) : v.toFixed(1)),
    color: (c) => {
      const v = verdictOf(c)
      if (c.score <= threshold || (corroborated && v.unmet)) return 'var(--gray-fill)'
      return v.level === 'kill' ? 'var(--red-fill)' : 'var(--amber-fill)'
    },
    lines: [{ name: score(threshold), at: threshold, color: 'amber', dashed: true }],
    reaches: threshold * 1.4,
  }
}
