import { expect, test } from 'vitest'
import type { HourRange } from '../../api/shapes'
import { days, emptyWeek, inWords, isAllowedAt, placeIn, rangesOf, weekOf } from './week'

const workdays = ['mon', 'tue', 'wed', 'thu', 'fri']

test('no range is always, and always is no range', () => {
  expect(weekOf([]).week).toEqual(emptyWeek(true))
  expect(rangesOf(emptyWeek(true))).toEqual([])
})

test('a night reaches into the next day', () => {
  const { week } = weekOf([{ days: workdays, from: '20:00', to: '06:00' }])
  expect(week[0]![20]).toBe(true) // Monday evening
  expect(week[0]![5]).toBe(false) // Monday morning belongs to Sunday night
  expect(week[5]![5]).toBe(true) // Saturday morning
  expect(week[5]![20]).toBe(false)
})

test('an hour that is allowed in part is painted, and said to be inexact', () => {
  const { week, exact } = weekOf([{ days: ['mon'], from: '08:30', to: '09:30' }])
  expect(exact).toBe(false)
  expect(week[0]!.slice(7, 11)).toEqual([false, true, true, false])
})

test.each<[string, HourRange[]]>([
  ['office hours', [{ days: workdays, from: '08:00', to: '18:00' }]],
  ['nights', [{ days: workdays, from: '20:00', to: '06:00' }]],
  ['every night', [{ days: [], from: '22:00', to: '04:00' }]],
  ['whole days', [{ days: ['sat', 'sun'], from: '00:00', to: '24:00' }]],
  ['two ranges', [{ days: ['mon'], from: '08:00', to: '12:00' }, { days: ['mon'], from: '13:00', to: '17:00' }]],
])('%s come back as they were', (_, ranges) => expect(rangesOf(weekOf(ranges).week)).toEqual(ranges))

// A generator with a seed: a failing week can be had again.
function* numbers(seed: number) {
  for (;;) yield (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648
}

test('whatever is painted, the ranges paint the same week', () => {
  const next = numbers(7)
  for (let n = 0; n < 500; n++) {
    const density = next.next().value as number
    const week = days.map(() => Array.from({ length: 24 }, () => (next.next().value as number) < density))
    const ranges = rangesOf(week)
    if (ranges.length === 0) continue // always, or never, which cannot be said
    expect(weekOf(ranges)).toEqual({ week, exact: true })
  }
})

test('an instant falls into the week of the zone', () => {
  const sundayNight = new Date('2026-11-15T23:30:00Z')
  expect(placeIn('UTC', sundayNight)).toEqual({ day: 6, minute: 23 * 60 + 30 })
  expect(placeIn('Europe/Berlin', sundayNight)).toEqual({ day: 0, minute: 30 })
  expect(placeIn('Not/AZone', sundayNight)).toEqual({ day: 6, minute: 23 * 60 + 30 })
})

test('allowed follows the ranges to the minute', () => {
  const night: HourRange[] = [{ days: ['sun'], from: '20:30', to: '06:00' }]
  expect(isAllowedAt(night, 'UTC', new Date('2026-11-15T20:29:00Z'))).toBe(false)
  expect(isAllowedAt(night, 'UTC', new Date('2026-11-15T20:30:00Z'))).toBe(true)
  expect(isAllowedAt(night, 'UTC', new Date('2026-11-16T05:59:00Z'))).toBe(true)
  expect(isAllowedAt(night, 'UTC', new Date('2026-11-16T06:00:00Z'))).toBe(false)
  expect(isAllowedAt([], 'UTC', new Date())).toBe(true)
})

test('ranges in words', () => {
  expect(inWords([])).toBe('always')
  expect(inWords([{ days: workdays, from: '20:00', to: '06:00' }])).toBe('Mon to Fri, 20:00 to 06:00')
  expect(inWords([{ days: ['sat', 'mon'], from: '08:00', to: '12:00' }])).toBe('Mon, Sat, 08:00 to 12:00')
})
