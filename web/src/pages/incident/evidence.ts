import type { IncidentExcerpt, RoundEvidence, RoundExcerpt, Signal } from '../../api/shapes'

/** Proof is a round of the evidence, with its words where they are kept. */
export interface Proof {
  round: RoundEvidence
  words?: RoundExcerpt
}

/** proofsOf joins the rounds that prove a stall with what was said in them. */
export function proofsOf(signal: Signal, excerpt: IncidentExcerpt | null | undefined): Proof[] {
  const words = new Map((excerpt?.rounds ?? []).map((r) => [r.index, r]))
  return (signal.rounds ?? []).map((round) => ({ round, words: words.get(round.index) }))
}

/** Kind is one thing that was done, with what came of it, again and again. */
export interface Kind {
  letter: string
  proofs: Proof[]
}

/** kindsOf groups equal rounds under their letter, in the order in which they
 *  first come. What came once is left out where something repeats. */
export function kindsOf(proofs: Proof[]): Kind[] {
  const kinds = new Map<string, Kind>()
  for (const proof of proofs) {
    const kind = kinds.get(proof.round.letter)
    if (kind) kind.proofs.push(proof)
    else kinds.set(proof.round.letter, { letter: proof.round.letter, proofs: [proof] })
  }
  const all = [...kinds.values()]
  const repeated = all.filter((k) => k.proofs.length > 1)
  return repeated.length > 0 ? repeated : all
}

/** Call is the tool call of a round that a reader looks at, and how many more
 *  there were. */
export interface Call {
  tool: string
  arguments?: string
  result?: string
  more: number
}

/** callOf is the call of a round that its evidence names, else its first. */
export function callOf({ round, words }: Proof): Call {
  const calls = words?.calls ?? []
  const call = calls.find((c) => c.tool === round.tool) ?? calls[0]
  return { tool: call?.tool ?? round.tool ?? '', arguments: call?.arguments, result: call?.result ?? (words?.answer || undefined), more: Math.max(calls.length - 1, 0) }
}

/** Layout is how the evidence of a family is read best. */
export type Layout = 'kinds' | 'calls' | 'words'

/** layoutOf is by what was done: words without calls one by one, different
 *  calls one by one beside their one answer, equal calls once with a count. */
export function layoutOf(signal: Signal, proofs: Proof[]): Layout {
  if (signal.family === 'chatter' || proofs.every((p) => !p.round.tool && !p.words?.calls?.length)) return 'words'
  return signal.family === 'futile' ? 'calls' : 'kinds'
}

/** sameAnswer is the result that all rounds share, by far the most of them at
 *  least; undefined where there is none, or nothing is kept. */
export function sameAnswer(proofs: Proof[]): { text?: string; digest: string; count: number } | undefined {
  const times = new Map<string, number>()
  for (const { round } of proofs) times.set(round.result, (times.get(round.result) ?? 0) + 1)
  const [digest, count] = [...times].sort((a, b) => b[1] - a[1])[0] ?? ['', 0]
  const text = proofs.map(callOf).find((c, i) => proofs[i]!.round.result === digest && c.result)?.result
  if (count < 2 || count * 2 < proofs.length) return undefined
  return { text, digest, count }
}

/** roundsIn is 3, 5 and 7, or 3 to 9 where they follow each other. */
export function roundsIn(proofs: Proof[]): string {
  const numbers = proofs.map((p) => p.round.index + 1)
  const first = numbers[0]!
  const last = numbers.at(-1)!
  if (numbers.length > 2 && last - first === numbers.length - 1) return `${first} to ${last}`
  const shown = numbers.length > 8 ? [...numbers.slice(0, 3), '…', ...numbers.slice(-3)] : numbers
  return shown.join(', ')
}

/** toolResult reports whether what the client sent last was what a tool gave
 *  back, rather than the words of a person. Both may have been cut. */
export function toolResult(excerpt: IncidentExcerpt | null | undefined): boolean {
  const prompt = excerpt?.prompt
  const results = (excerpt?.rounds.at(-1)?.calls ?? []).flatMap((c) => c.result || [])
  return prompt !== undefined && prompt !== '' && results.some((r) => prompt.includes(r) || r.includes(prompt))
}
