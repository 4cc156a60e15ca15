import type { Event, Incident, Match, RoundEvidence, Verdict } from '../../api/shapes'
import { scored, verdictOf } from '../../api/verdict'
import { clock } from '../../format/time'

/** Lane is one of the three things that similarity compares. */
export type Lane = 'prompt' | 'response' | 'tools'

export interface Entry {
  event: Event
  /** place in the session, from 1; undefined for a call of another session */
  number?: number
  /** name of the round that its reply began; equal rounds share it */
  letter?: string
  /** distance by lane, where it matches the compared call; tools are 0 */
  distance: Partial<Record<Lane, number>>
  score: number
  /** how sure stall was at this call, in percent */
  certainty: number
  /** no second signal agreed with the score */
  unmet: boolean
}

/** Scene is the window of an incident, ready to be drawn. */
export interface Scene {
  entries: Entry[] // oldest first, the call in question last
  /** what each lane compares with: an index of entries */
  compared: Record<Lane, number>
  /** the earlier entries that match it, never itself */
  matches: Record<Lane, number[]>
  /** first entry of the repetition; undefined when none is known */
  loopFrom?: number
  hasMatches: boolean
}

// How long before it was judged a call may have arrived.
const arrival = 60_000_000

// haltd tells microseconds, which a Date does not keep; several calls of a
// quick loop fall into one millisecond.
function micros(time: string): number {
  const beyond = /\.\d{3}(\d{1,3})/.exec(time)?.[1] ?? ''
  return new Date(time).getTime() * 1000 + Number(beyond.padEnd(3, '0'))
}

/** upTo are the calls until the incident. A call that was let through is
 *  written after the incident about it; it had arrived by then. */
export function upTo(incident: Incident, calls: Event[]): Event[] {
  return calls.filter((c) => c.id <= incident.event || micros(c.time) <= micros(incident.time))
}

/** stops reports whether the call in question was not forwarded. */
export function stops(incident: Incident): boolean {
  return !incident.shadow && ['kill', 'halt', 'reject', 'block'].includes(incident.action)
}

/** refused reports whether the call in question was refused, rather than the
 *  calls after it. */
export function refused(scene: Scene | undefined): boolean {
  return scene?.entries.at(-1)?.event.event_type === 'blocked'
}

/** sceneOf joins the calls of a window with the evidence about them. calls
 *  are the newest of the agent or session up to the incident, oldest first;
 *  numbers tells the place of a call in its session. */
export function sceneOf(incident: Incident, verdict: Verdict, calls: Event[], numbers: Map<string, number>): Scene | undefined {
  const size = incident.settings.kill_switch.window_size
  const refused = refusedOf(incident, calls)
  const judged = calls.filter((c) => !c.retry && (c.event_type !== 'blocked' || c === refused))
  const window = judged.slice(-size)
  if (window.length === 0) return undefined
  const signals = verdict.signals ?? []
  const matching = signals.find((s) => s.matches?.length)?.matches ?? []
  const entries: Entry[] = window.map((event) => ({
    event, number: numbers.get(event.id), distance: {}, score: event.score, certainty: verdictOf(event).certainty, unmet: Boolean(verdictOf(event).unmet),
  }))
  const last = entries.length - 1
  entries[last]!.score = Math.max(entries[last]!.score, scored(verdict)?.score ?? verdict.score)
  entries[last]!.certainty = verdict.certainty || entries[last]!.certainty
  for (const match of matching) {
    const entry = entryOf(entries.slice(0, last), match)
    if (entry) entry.distance = distancesOf(match)
  }
  nameRounds(entries.filter((e) => e.event.session === incident.session), signals.find((s) => s.rounds?.length)?.rounds ?? [])
  const compared = { prompt: last, response: Math.max(last - 1, 0), tools: Math.max(last - 1, 0) }
  const inLane = (lane: Lane) => entries.flatMap((e, i) => (e.distance[lane] === undefined || i === compared[lane] ? [] : [i]))
  const matches = { prompt: inLane('prompt'), response: inLane('response'), tools: inLane('tools') }
  const first = entries.findIndex((e) => e.letter !== undefined || Object.keys(e.distance).length > 0)
  return {
    entries,
    matches,
    compared,
    loopFrom: first >= 0 && first < last ? first : undefined,
    hasMatches: Object.values(matches).some((m) => m.length > 0),
  }
}

// Of the calls that were rejected, the first is the one in question. What
// exact, a limit or a budget refuses does not name the incident, which is
// raised beside it: there it is the last that was refused for this reason and
// had arrived by then. Ids tell nothing here: the incident gets its own later.
function refusedOf(incident: Incident, calls: Event[]): Event | undefined {
  if (incident.shadow || !['reject', 'block'].includes(incident.action)) return undefined
  const blocked = calls.filter((c) => c.event_type === 'blocked')
  return blocked.find((c) => c.incident === incident.id) ?? blocked.findLast((c) => !c.incident && c.session === incident.session && c.block_reason === incident.reason && micros(c.time) <= micros(incident.time))
}

// A match names a call by when it was judged: it is the last that had arrived
// by then.
function entryOf(entries: Entry[], match: Match): Entry | undefined {
  const at = micros(match.time)
  const entry = entries.findLast((e) => micros(e.event.time) <= at)
  return entry && at - micros(entry.event.time) <= arrival ? entry : undefined
}

function distancesOf(match: Match): Entry['distance'] {
  const distance: Entry['distance'] = {}
  if (match.prompt_distance >= 0) distance.prompt = match.prompt_distance
  if (match.response_distance >= 0) distance.response = match.response_distance
  if (match.same_tools) distance.tools = 0
  return distance
}

// Rounds are counted in the conversation, calls in the record. entries are the
// calls of the session. The last round of the evidence came with the reply before the call in question; from there
// they are laid side by side, and only where the tools agree.
function nameRounds(entries: Entry[], rounds: RoundEvidence[]): void {
  const end = Math.max(...rounds.map((r) => r.index))
  const placed = rounds.map((r) => ({ round: r, entry: entries[entries.length - 2 - (end - r.index)] }))
  const agree = placed.every(({ round, entry }) => !entry || !round.tool || (entry.event.tool_calls ?? []).includes(round.tool))
  if (!agree) return
  for (const { round, entry } of placed) if (entry) entry.letter = round.letter
}

/** numbersOf numbers the calls of a session. */
export function numbersOf(calls: Event[]): Map<string, number> {
  return new Map(calls.map((c, i) => [c.id, i + 1]))
}

/** named is #142, or the time of a call of another session. */
export function named(entry: Entry): string {
  return entry.number === undefined ? clock(entry.event.time) : `#${entry.number}`
}
