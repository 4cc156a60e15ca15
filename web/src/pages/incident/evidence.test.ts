import { expect, test } from 'vitest'
import type { IncidentExcerpt, RoundEvidence, Signal } from '../../api/shapes'
import { callOf, kindsOf, layoutOf, proofsOf, roundsIn, sameAnswer, toolResult } from './evidence'

function round(index: number, letter: string, more: Partial<RoundEvidence> = {}): RoundEvidence {
  return { index, letter, tool: 'find', act: letter, result: 'r', certainty: 0, ...more }
}

function stall(family: string, rounds: RoundEvidence[]): Signal {
  return { detector: 'stall', family, level: 'kill', score: 0, threshold: 0, rounds } as Signal
}

const words: IncidentExcerpt = {
  rounds: [{ index: 4, said: 'again', calls: [{ tool: 'note' }, { tool: 'find', arguments: '{"id":7}', result: 'none' }] }],
}

test('rounds get the words of the request, by their place in the conversation', () => {
  const proofs = proofsOf(stall('repeat', [round(3, 'A'), round(4, 'A')]), words)
  expect(proofs.map((p) => p.words?.said)).toEqual([undefined, 'again'])
  expect(callOf(proofs[1]!)).toEqual({ tool: 'find', arguments: '{"id":7}', result: 'none', more: 1 })
  expect(callOf(proofs[0]!)).toEqual({ tool: 'find', arguments: undefined, result: undefined, more: 0 })
})

test('what came once is left out where something repeats', () => {
  const proofs = proofsOf(stall('repeat', [round(1, 'A'), round(2, 'B'), round(3, 'B')]), null)
  expect(kindsOf(proofs).map((k) => [k.letter, k.proofs.length])).toEqual([['B', 2]])
  expect(kindsOf(proofs.slice(0, 2)).map((k) => k.letter)).toEqual(['A', 'B'])
})

test('each family is laid out as it is read best', () => {
  const rounds = [round(1, 'A'), round(2, 'B')]
  expect(['repeat', 'cycle', 'waiting', 'refusal', 'futile', 'chatter'].map((f) => layoutOf(stall(f, rounds), proofsOf(stall(f, rounds), null)))).toEqual([
    'kinds', 'kinds', 'kinds', 'kinds', 'calls', 'words',
  ])
})

test('an answer is the same where most rounds have it', () => {
  const proofs = proofsOf(stall('futile', [round(3, 'A', { result: 'x' }), round(4, 'B'), round(5, 'C')]), words)
  expect(sameAnswer(proofs)).toEqual({ text: 'none', digest: 'r', count: 2 })
  expect(sameAnswer(proofs.slice(0, 2))).toBeUndefined()
})

test.each([
  [[2, 3, 4], '3 to 5'],
  [[2, 5], '3, 6'],
  [[0, 2, 4, 6, 8, 10, 12, 14, 16], '1, 3, 5, …, 13, 15, 17'],
])('rounds %j are told as %s', (indexes, want) => expect(roundsIn(indexes.map((i) => ({ round: round(i, 'A') })))).toBe(want))

test('what a tool gave back is told from the words of a person', () => {
  expect(toolResult({ ...words, prompt: 'none' })).toBe(true)
  expect(toolResult({ ...words, prompt: 'Find it again.' })).toBe(false)
  expect(toolResult({ rounds: [], prompt: 'none' })).toBe(false)
  expect(toolResult(null)).toBe(false)
})
