import { expect, test } from 'vitest'
import { ago, coarse, daysBack, span } from './time'

test.each([
  [0, 'now'],
  [2_900, 'now'],
  [18_000, '18 s ago'],
  [7 * 60_000, '7 min ago'],
  [3 * 3_600_000, '3 h ago'],
  [5 * 86_400_000, '5 d ago'],
])('%d ms before is %s', (ms, want) => expect(ago(1e12 - ms, 1e12)).toBe(want))

test.each([
  [320, '320 ms'],
  [4300, '4.3 s'],
  [59_000, '59 s'],
  [1_358_000, '22 min 38 s'],
  [7_200_000, '2 h'],
  [90_000_000, '1 d 1 h'],
])('a span of %d ms is %s', (ms, want) => expect(span(ms)).toBe(want))

test('coarse keeps hours for two days', () => {
  expect(coarse(47 * 3_600_000)).toBe('47 h')
  expect(coarse(49 * 3_600_000)).toBe('2 d')
})

test('days begin at midnight, and today is the last', () => {
  const now = new Date(2026, 10, 16, 19, 25)
  expect(daysBack(1, now)).toBe(new Date(2026, 10, 16).toISOString())
  expect(daysBack(30, now)).toBe(new Date(2026, 9, 18).toISOString())
})
