import type { Event, Incident, Signal, Verdict } from './shapes'

/** weights of the similarity score, as the kill switch was specified. */
export const weights = { prompts: 1.0, responses: 2.0, tools: 1.5 }

// What a call says of which nothing was said.
const silent: Verdict = {
  version: 0, action: 'allow', level: 'pass', score: 0, certainty: 0,
  parts: { similar_prompts: 0, similar_responses: 0, repeated_tool_calls: 0 },
}

/** verdictOf is the verdict on a call or of an incident. */
export function verdictOf(judged: Pick<Event | Incident, 'verdict'>): Verdict {
  return judged.verdict ?? silent
}

/** scored is the signal of similarity that goes by the score; equal calls
 *  under changing users are counted apart. */
export function scored(verdict: Verdict): Signal | undefined {
  return verdict.signals?.find((s) => s.detector === 'similarity' && s.family !== 'streak')
}

/** byStreak reports whether equal calls under changing users decided. */
export function byStreak(verdict: Verdict): boolean {
  return verdict.signals?.[0]?.family === 'streak'
}
