import type { ListedIncident as Incident } from '../../api/shapes'
import { verdictOf } from '../../api/verdict'
import { times } from '../../format/figures'
import { valueOf } from '../../parts/settings'

/** Group is incidents of one cause, the newest first. */
export interface Group {
  key: string
  incidents: Incident[]
}

const near = 24 * 3600 * 1000

/** groupsOf puts equal incidents together: the same decision and evidence but
 *  for agent and session, each within 24 hours of the one before. They stay in the order of their newest. */
export function groupsOf(incidents: Incident[]): Group[] {
  const groups: Group[] = []
  const open = new Map<string, Group>()
  for (const incident of incidents) {
    const key = causeOf(incident)
    const group = open.get(key)
    const last = group?.incidents.at(-1)
    if (group && last && Math.abs(new Date(last.time).getTime() - new Date(incident.time).getTime()) <= near) {
      group.incidents.push(incident)
      continue
    }
    // Named by its cause, so that it is the same group, opened or in focus,
    // when one more incident comes to stand first in it.
    const started = { key: group ? `${group.key} earlier` : key, incidents: [incident] }
    open.set(key, started)
    groups.push(started)
  }
  return groups
}

/** costOf is what the repeats of all incidents of a group cost together. */
export function costOf({ incidents }: Group): number {
  return incidents.reduce((usd, i) => usd + i.burned_usd, 0)
}

/** dearestFirst sorts groups by what they cost together: each of many may cost
 *  less than one alone. */
export function dearestFirst(groups: Group[]): Group[] {
  return groups.toSorted((a, b) => costOf(b) - costOf(a))
}

// What was found, without what differs from agent to agent.
function causeOf(i: Incident): string {
  const verdict = verdictOf(i)
  const found = verdict.findings?.find((f) => f.check === verdict.check)
  const signal = verdict.signals?.find((s) => s.detector === i.detector) ?? verdict.signals?.[0]
  return JSON.stringify([
    i.kind, i.action, i.shadow, i.status, i.detector,
    found && [found.name, found.spent, found.left, found.asked, valueOf(i.settings, found.name ?? '')],
    signal && [signal.family, signal.tools, signal.count, signal.outcome, signal.parts],
  ])
}

/** headline is the sentence of one incident of a group, and of how many agents
 *  or sessions it could be told as well. */
export function headline({ incidents }: Group): string {
  const { sentence } = incidents[0]!
  const agents = new Set(incidents.map((i) => i.agent)).size
  const sessions = new Set(incidents.map((i) => i.session)).size
  if (agents > 1) return `${times(agents, 'agent')} alike: ${sentence}`
  return sessions > 1 ? `${times(sessions, 'session')} alike: ${sentence}` : sentence
}
