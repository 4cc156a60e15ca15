import { expect, test } from 'vitest'
import type { Event, Signal } from './shapes'
import { byStreak, scored, verdictOf } from './verdict'

const streak: Signal = { detector: 'similarity', family: 'streak', level: 'kill', score: 36, threshold: 36, count: 36 }
const score: Signal = { detector: 'similarity', level: 'warn', score: 55, threshold: 10 }

test('a call of which nothing was said has an empty verdict', () => {
  expect(verdictOf({} as Event)).toMatchObject({ action: 'allow', level: 'pass', score: 0, certainty: 0 })
  const verdict = { ...verdictOf({} as Event), certainty: 96.4 }
  expect(verdictOf({ verdict } as Event)).toBe(verdict)
})

test('the score is not that of equal calls under changing users', () => {
  const verdict = (...signals: Signal[]) => ({ ...verdictOf({} as Event), signals })
  expect(scored(verdict(streak, score))?.score).toBe(55)
  expect(scored(verdict(streak))).toBeUndefined()
  expect([[streak, score], [score, streak], []].map((signals) => byStreak(verdict(...signals)))).toEqual([true, false, false])
})
