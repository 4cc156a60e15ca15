import type { ListedIncident as Incident } from '../../api/shapes'

/** Group is incidents of one cause, the newest first. */
export interface Group {
  key: string
  incidents: Incident[]
}

const near = 24 * 3600 * 1000

/** groupsOf puts equal incidents together: the same verdict, decision and
 *  words but for the names of agent and session, each within 24 hours of the
 *  one before. They stay in the order of their newest. */
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
    const started = { key: group ? `${group.key}\nearlier` : key, incidents: [incident] }
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

function causeOf(i: Incident): string {
  const words = i.sentence.replaceAll(i.agent, '').replaceAll(i.session || i.agent, '')
  return [i.kind, i.action, i.shadow, i.status, i.detector, words].join('\n')
}

/** headline is the sentence of a group, of all its agents where there are
 *  several. */
export function headline({ incidents }: Group): string {
  const first = incidents[0]!
  const agents = new Set(incidents.map((i) => i.agent)).size
  const sessions = new Set(incidents.map((i) => i.session)).size
  const limited = /^This (session|turn) of /.exec(first.sentence)
  if (limited && incidents.length > 1) {
    const whose = agents > 1 ? `${agents} agents` : first.agent
    return first.sentence.replace(`This ${limited[1]} of ${first.agent} has`, `${incidents.length} ${limited[1]}s of ${whose} have`)
  }
  if (sessions > 1 && !first.sentence.includes(first.agent) && first.session) return first.sentence.replace(first.session, `${sessions} sessions`)
  return agents > 1 ? plural(first.sentence.replace(first.agent, `${agents} agents`)) : first.sentence
}

const verbs: Record<string, string> = { 'repeats itself': 'repeat themselves', repeats: 'repeat', was: 'were', has: 'have' }

/** plural makes a sentence about one agent one about several. */
function plural(sentence: string): string {
  return sentence
    .replace(/^(\d+ agents )(repeats itself|repeats|was|has)\b/, (_, who: string, verb: string) => who + verbs[verb])
    .replace(' reached its ', ' reached their ')
    .replace('whatever it tried', 'whatever they tried')
}
