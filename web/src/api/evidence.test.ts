import { expect, test } from 'vitest'
import { byStreak, evidenceOf, scored } from './evidence'

const stall = {
  detector: 'stall', family: 'futile', level: 'kill', score: 96.4, threshold: 90, certainty: 96.4, warn_at: 50, kill_at: 90,
  reasons: [
    { name: 'fail_varied', family: 'futile', text: 'another call with the same failure', points: 99 },
    { name: 'other', text: 'smaller reasons together', points: -3 },
  ],
  rounds: [{ index: 4, letter: 'A', tool: 'run_sql', outcome: 'error', act: '1f', result: '2e', certainty: 11.6, family: 'futile' }],
}

test('a stall is read with its certainty, its lines and its reasons', () => {
  const evidence = evidenceOf({ certainty: 96.4, signals: [stall] })
  expect(evidence.certainty).toBe(96.4)
  expect(evidence.signals[0]).toMatchObject(stall)
  expect(evidence.signals[0]?.reasons[1]?.family).toBeUndefined()
})

test('a stall from before certainty was kept has none', () => {
  const old = { detector: 'stall', family: 'repeat', level: 'kill', score: 3, threshold: 3, rounds: [{ index: 1, letter: 'A', act: '1f', result: '2e', points: 1 }] }
  const { certainty, signals } = evidenceOf({ score: 0, signals: [old] })
  expect(certainty).toBeUndefined()
  expect(signals[0]).toMatchObject({ certainty: undefined, warn_at: undefined, kill_at: undefined, reasons: [] })
  expect(signals[0]?.rounds[0]).toEqual({ index: 1, letter: 'A', tool: undefined, outcome: undefined, act: '1f', result: '2e', certainty: undefined, family: undefined })
})

test('strange reasons are read with care', () => {
  const { signals, certainty } = evidenceOf({ certainty: 'high', signals: [{ detector: 'stall', certainty: Number.NaN, reasons: [null, { points: 'many' }], rounds: [{ certainty: '12' }] }] })
  expect(certainty).toBeUndefined()
  expect(signals[0]?.certainty).toBeUndefined()
  expect(signals[0]?.reasons).toEqual([{ name: '', family: undefined, text: '', points: 0 }, { name: '', family: undefined, text: '', points: 0 }])
  expect(signals[0]?.rounds[0]?.certainty).toBeUndefined()
})

test('the score is not that of equal calls under changing users', () => {
  const streak = { detector: 'similarity', family: 'streak', level: 'kill', score: 36, threshold: 36, count: 36 }
  const score = { detector: 'similarity', level: 'warn', score: 55, threshold: 10, parts: { similar_prompts: 55 } }
  expect(scored(evidenceOf({ signals: [streak, score] }))?.score).toBe(55)
  expect(scored(evidenceOf({ signals: [streak] }))).toBeUndefined()
  expect([[streak, score], [score, streak], []].map((signals) => byStreak(evidenceOf({ signals })))).toEqual([true, false, false])
})
