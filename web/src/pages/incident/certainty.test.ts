import { expect, test } from 'vitest'
import type { Incident, Signal, Verdict } from '../../api/shapes'
import { certaintyOf, reachOf, roundsOf, stallThatDecided, toolsOf, waterfallOf, whole } from './certainty'

function reasons(...points: number[]) {
  return points.map((p, i) => ({ name: `r${i}`, text: `reason ${i}`, points: p }))
}

function stall(more: object): Signal {
  return { detector: 'stall', level: 'kill', score: 0, threshold: 0, ...more }
}

test('reasons lead from nothing to the total, end to end', () => {
  const { steps, total } = waterfallOf(reasons(44, 19, 17, 12, 8, -3))
  expect(steps.map((s) => [s.from, s.to])).toEqual([[0, 44], [44, 63], [63, 80], [80, 92], [92, 100], [100, 97]])
  expect(total).toBe(97)
})

test.each([
  [[14, 14, 12, 10, 10, 10, 17]],
  [[120, -40, 21, -5]],
  [[-30, 80, 1]],
  [[51]],
])('points %j add up to the total exactly', (points) => {
  const { steps, total } = waterfallOf(reasons(...points))
  expect(total).toBe(points.reduce((a, b) => a + b, 0))
  expect(steps.at(-1)?.to).toBe(total)
  expect(steps.reduce((sum, s) => sum + s.to - s.from, 0)).toBe(total)
  for (const [i, s] of steps.entries()) {
    expect(s.from).toBe(i === 0 ? 0 : steps[i - 1]!.to)
    expect(s.to - s.from).toBe(s.reason.points)
  }
})

test('what speaks against comes last and goes back', () => {
  const { steps, low, high } = waterfallOf(reasons(-20, 70, 60, -14))
  expect(steps.map((s) => s.reason.points)).toEqual([70, 60, -20, -14])
  expect([low, high]).toEqual([0, 130])
  expect(waterfallOf(reasons(40, 0)).steps).toHaveLength(1)
  expect(waterfallOf(reasons(40, 10)).high).toBe(100)
  expect(waterfallOf([])).toEqual({ steps: [], total: 0, low: 0, high: 100 })
})

test('the certainty is what the reasons add up to', () => {
  // 99.45 is written as 99.5 in the record, and the reasons add up to 99.
  expect(certaintyOf(stall({ certainty: 99.5, reasons: reasons(60, 39) }))).toBe(99)
  expect(certaintyOf(stall({ certainty: 71.6 }))).toBe(72)
  expect(certaintyOf(stall({}))).toBeUndefined()
})

test.each([
  [49.9, 'none'],
  [50, 'warn'],
  [89.9, 'warn'],
  [90, 'kill'],
])('a certainty of %d has reached %s', (certainty, want) => expect(reachOf(certainty, { warn: 50, kill: 90 })).toBe(want))

test('a certainty is not rounded up to a line that it has not reached', () => {
  const lines = { warn: 50, kill: 90 }
  expect([12.6, 49.7, 50, 89.4, 89.6, 90, 90.5].map((c) => whole(c, lines))).toEqual([13, 49, 50, 89, 89, 90, 91])
  expect(whole(89.6, {})).toBe(90)
})

test('without lines nothing is reached', () => expect(reachOf(99, {})).toBe('none'))

test('rounds from before certainty was kept are left out', () => {
  const rounds = [{ index: 1, letter: 'A', act: '1f', result: '2e', certainty: 0 }]
  expect(roundsOf(stall({ rounds, certainty: 96.4 }))).toEqual(rounds)
  expect(roundsOf(stall({ rounds }))).toEqual([])
  expect(roundsOf(stall({ certainty: 96.4 }))).toEqual([])
})

test('letters are told with their tools, many letters without', () => {
  const round = (letter: string, tool?: string) => ({ index: 0, letter, tool, act: '', result: '', certainty: 0 })
  expect(toolsOf([round('A', 'find'), round('B'), round('A', 'find')])).toBe('A find · B text')
  expect(toolsOf(['A', 'B', 'C', 'D', 'E'].map((l) => round(l, 'run_sql')))).toBe('run_sql')
})

test('stall decided where the incident says so', () => {
  const verdict = { signals: [{ detector: 'similarity' }, { detector: 'stall', certainty: 80 }] } as Verdict
  expect(stallThatDecided({ detector: 'stall' } as Incident, verdict)?.certainty).toBe(80)
  expect(stallThatDecided({ detector: 'similarity' } as Incident, verdict)).toBeUndefined()
})
