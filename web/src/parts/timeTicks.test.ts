import { expect, test } from 'vitest'
import { ticksIn } from './timeTicks'

const steps = (n: number, hours: number) =>
  Array.from({ length: n }, (_, i) => new Date(2026, 10, 1, 8 + i * hours).toISOString())
const hoursOf = (at: string[]) => at.map((t) => new Date(t).getHours())

test('a day is labelled at round hours', () => {
  expect(ticksIn(steps(25, 1), 800)).toMatchObject({ days: false })
  expect(hoursOf(ticksIn(steps(25, 1), 800).at)).toEqual([9, 12, 15, 18, 21, 0, 3, 6])
})

test('where it is narrow, labels are left out evenly', () => {
  expect(hoursOf(ticksIn(steps(25, 1), 270).at)).toEqual([9, 15, 21, 3])
  expect(ticksIn(steps(25, 1), 0).at).toHaveLength(1)
})

test('more than two days are labelled at midnight', () => {
  const week = ticksIn(steps(29, 6).map((_, i) => new Date(2026, 10, 1, i * 6).toISOString()), 800)
  expect(week.days).toBe(true)
  expect(hoursOf(week.at)).toEqual([0, 0, 0, 0, 0, 0, 0, 0])
})

test('days that begin at no midnight of the reader are all candidates', () => {
  expect(ticksIn(steps(10, 24), 800).at).toHaveLength(10)
})

test('one step is labelled', () => {
  expect(ticksIn(steps(1, 1), 800).at).toHaveLength(1)
})
