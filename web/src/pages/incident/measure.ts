import type { IncidentDetail, Signal } from '../../api/shapes'
import { byStreak, scored, verdictOf } from '../../api/verdict'
import { certain, score } from '../../format/figures'
import { linesOf, reachOf, whole } from './certainty'
import type { Entry } from './scene'

/** Line is where something happens, across the bars of a measure. */
export interface Line {
  name: string
  at: number
  color: 'amber' | 'red'
  dashed: boolean
}

/** Measure is what the calls of a window are held against. */
export interface Measure {
  name: string
  of: (e: Entry) => number
  write: (value: number) => string
  lines: Line[]
  /** the least that the scale shows */
  reaches: number
  color: (e: Entry, inLoop: boolean) => 'gray' | 'amber' | 'red'
}

/** measureOf is the measure of what decided: the certainty of stall, where it
 *  was kept, else the score of similarity. */
export function measureOf(incident: IncidentDetail, stall: Signal | undefined): Measure {
  if (stall?.certainty === undefined) return scoreAgainst(incident)
  const lines = linesOf(stall)
  const drawn: Line[] = []
  if (lines.warn !== undefined) drawn.push({ name: `warn ${certain(lines.warn)}`, at: lines.warn, color: 'amber', dashed: true })
  if (lines.kill !== undefined) drawn.push({ name: `kill ${certain(lines.kill)}`, at: lines.kill, color: 'red', dashed: false })
  return {
    name: 'Certainty',
    of: (e) => e.certainty,
    write: (value) => `${whole(value, lines)} %`,
    lines: drawn,
    reaches: 100,
    // Red is a call that was stopped or would have been, as on the agent's page.
    color: (e) => {
      const reach = reachOf(e.certainty, lines)
      return reach === 'none' ? 'gray' : reach === 'kill' && verdictOf(e.event).level === 'kill' ? 'red' : 'amber'
    },
  }
}

// A score that no second signal agreed with stops nobody, and where equal calls
// were counted no score does: such bars are grey.
function scoreAgainst(incident: IncidentDetail): Measure {
  const { threshold, require_corroboration: corroborated } = incident.settings.kill_switch
  const decided = scored(verdictOf(incident)) !== undefined && !byStreak(verdictOf(incident))
  return {
    name: 'Score',
    of: (e) => e.score,
    write: score,
    lines: decided ? [{ name: `threshold ${score(threshold)}`, at: threshold, color: 'red', dashed: true }] : [],
    reaches: threshold * 1.15,
    color: (e, inLoop) => {
      if (!decided || (corroborated && e.unmet)) return 'gray'
      return e.score > threshold ? 'red' : inLoop ? 'amber' : 'gray'
    },
  }
}
