// What a verdict says. The API leaves its shape open, so that it is read here
// with care: a field that is missing or strange is left out, never fatal.

export interface RoundEvidence {
  index: number
  letter: string
  tool?: string
  outcome?: string
  act: string
  result: string
  /** how sure stall was after this round, in percent */
  certainty?: number
  family?: string
}

/** Reason is one thing that speaks for a stall, or against it. */
export interface Reason {
  name: string
  family?: string
  text: string
  /** below zero where it speaks against; all together are the certainty */
  points: number
}

export interface Match {
  entry: number
  time: string
  prompt_distance: number
  response_distance: number
  same_tools: boolean
}

export interface Parts {
  similar_prompts: number
  similar_responses: number
  repeated_tool_calls: number
}

export interface Signal {
  detector: string
  family?: string
  level: string
  score: number
  threshold: number
  /** how sure stall is and where it warns and kills, in percent; incidents
   *  from before haltd kept it have none of the three */
  certainty?: number
  warn_at?: number
  kill_at?: number
  reasons: Reason[]
  tools: string[]
  count: number
  outcome?: string
  rounds: RoundEvidence[]
  matches: Match[]
  parts?: Parts
  window?: number
  tokens: number[]
  unmet?: string
}

export interface Finding {
  check: string
  action: string
  reason: string
  sentence: string
  shadow: boolean
}

export interface Evidence {
  sentence?: string
  score: number
  /** how sure stall was, in percent, whether it fired or not */
  certainty?: number
  parts: Parts
  signals: Signal[]
  findings: Finding[]
}

/** weights of the similarity score, as the kill switch was specified. */
export const weights = { prompts: 1.0, responses: 2.0, tools: 1.5 }

/** evidenceOf reads a verdict. */
export function evidenceOf(verdict: unknown): Evidence {
  const v = record(verdict)
  return {
    sentence: text(v.sentence),
    score: number(v.score),
    certainty: known(v.certainty),
    parts: partsOf(v.parts),
    signals: list(v.signals).map(signalOf),
    findings: list(v.findings).map((f) => ({
      check: text(f.check) ?? '',
      action: text(f.action) ?? '',
      reason: text(f.reason) ?? '',
      sentence: text(f.sentence) ?? '',
      shadow: f.shadow === true,
    })),
  }
}

function signalOf(s: Loose): Signal {
  return {
    detector: text(s.detector) ?? '',
    family: text(s.family),
    level: text(s.level) ?? '',
    score: number(s.score),
    threshold: number(s.threshold),
    certainty: known(s.certainty),
    warn_at: known(s.warn_at),
    kill_at: known(s.kill_at),
    reasons: list(s.reasons).map((r) => ({
      name: text(r.name) ?? '',
      family: text(r.family),
      text: text(r.text) ?? '',
      points: number(r.points),
    })),
    tools: texts(s.tools),
    count: number(s.count),
    outcome: text(s.outcome),
    rounds: list(s.rounds).map((r) => ({
      index: number(r.index),
      letter: text(r.letter) ?? '',
      tool: text(r.tool),
      outcome: text(r.outcome),
      act: text(r.act) ?? '',
      result: text(r.result) ?? '',
      certainty: known(r.certainty),
      family: text(r.family),
    })),
    matches: list(s.matches).map((m) => ({
      entry: number(m.entry),
      time: text(m.time) ?? '',
      prompt_distance: number(m.prompt_distance, -1),
      response_distance: number(m.response_distance, -1),
      same_tools: m.same_tools === true,
    })),
    parts: s.parts ? partsOf(s.parts) : undefined,
    window: known(s.window),
    tokens: (Array.isArray(s.tokens) ? s.tokens : []).map((t) => number(t)),
    unmet: text(s.unmet),
  }
}

/** scored is the signal of similarity that goes by the score; equal calls
 *  under changing users are counted apart. */
export function scored(evidence: Evidence): Signal | undefined {
  return evidence.signals.find((s) => s.detector === 'similarity' && s.family !== 'streak')
}

/** byStreak reports whether equal calls under changing users decided. */
export function byStreak(evidence: Evidence): boolean {
  return evidence.signals[0]?.family === 'streak'
}

function partsOf(value: unknown): Parts {
  const p = record(value)
  return {
    similar_prompts: number(p.similar_prompts),
    similar_responses: number(p.similar_responses),
    repeated_tool_calls: number(p.repeated_tool_calls),
  }
}

type Loose = Record<string, unknown>

function record(value: unknown): Loose {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Loose) : {}
}

function list(value: unknown): Loose[] {
  return Array.isArray(value) ? value.map(record) : []
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((v): v is string => typeof v === 'string') : []
}

function number(value: unknown, otherwise = 0): number {
  return known(value) ?? otherwise
}

function known(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}
