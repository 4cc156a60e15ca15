import type { Contribution, Incident, RoundEvidence, Signal, Verdict } from '../../api/shapes'

/** stallThatDecided is the evidence of an incident that is stall's. */
export function stallThatDecided(incident: Incident, verdict: Verdict): Signal | undefined {
  return incident.detector === 'stall' ? verdict.signals?.find((s) => s.detector === 'stall') : undefined
}

/** Step is a reason, from where the reasons before it lead to where it leads. */
export interface Step {
  reason: Contribution
  from: number
  to: number
}

export interface Waterfall {
  steps: Step[]
  total: number
  /** the ends of the scale: 0 and 100, or more where the steps go further */
  low: number
  high: number
}

/** waterfallOf lays the reasons end to end: what speaks for it, the most
 *  first, then what speaks against it and leads back to the total. */
export function waterfallOf(reasons: Contribution[]): Waterfall {
  const speaking = reasons.filter((r) => r.points !== 0)
  const order = [...speaking.filter((r) => r.points > 0), ...speaking.filter((r) => r.points < 0)]
  let total = 0
  const steps = order.map((reason) => ({ reason, from: total, to: (total += reason.points) }))
  const reached = steps.map((s) => s.to)
  return { steps, total, low: Math.min(0, ...reached), high: Math.max(100, ...reached) }
}

/** reasonsOf is what the certainty of a stall rests on; nothing where it was
 *  not kept. */
export function reasonsOf(stall: Signal): Contribution[] {
  return stall.reasons ?? []
}

/** certaintyOf is how sure a stall is, in whole percent: what its reasons add
 *  up to, so that no page rounds it otherwise. */
export function certaintyOf(stall: Signal): number | undefined {
  const reasons = reasonsOf(stall)
  if (reasons.length > 0) return waterfallOf(reasons).total
  return stall.certainty === undefined ? undefined : Math.round(stall.certainty)
}

/** Lines are where stall warns and kills, in percent. */
export interface Lines {
  warn?: number
  kill?: number
}

export function linesOf(stall: Signal): Lines {
  return { warn: stall.warn_at, kill: stall.kill_at }
}

/** Reach is which line a certainty has reached. */
export type Reach = 'none' | 'warn' | 'kill'

export function reachOf(certainty: number, { warn, kill }: Lines): Reach {
  if (kill !== undefined && certainty >= kill) return 'kill'
  return warn !== undefined && certainty >= warn ? 'warn' : 'none'
}

/** whole is a certainty in whole percent. It is not rounded up to a line that
 *  it has not reached. */
export function whole(certainty: number, { warn, kill }: Lines): number {
  const near = Math.round(certainty)
  const missed = [warn, kill].some((line) => line !== undefined && certainty < line && near >= line)
  return missed ? Math.floor(certainty) : near
}

/** fills are the colours of what has reached a line. */
export const fills: Record<Reach, string> = { none: 'var(--gray-fill)', warn: 'var(--amber-fill)', kill: 'var(--red-fill)' }

/** inks are the colours of words about it. */
export const inks: Record<Reach, string> = { none: 'var(--muted)', warn: 'var(--amber)', kill: 'var(--red)' }

/** roundsOf are the rounds of a stall; none where certainty was not kept. */
export function roundsOf(stall: Signal): RoundEvidence[] {
  return stall.certainty === undefined ? [] : (stall.rounds ?? [])
}

/** toolsOf says which tools the letters of rounds stand for. Where there are
 *  many letters, the tools alone say more. */
export function toolsOf(rounds: RoundEvidence[]): string {
  const tools = new Map(rounds.map((r) => [r.letter, r.tool ?? 'text']))
  if (tools.size > 4) return [...new Set(tools.values())].join(', ')
  return [...tools].map(([letter, tool]) => `${letter} ${tool}`).join(' · ')
}
