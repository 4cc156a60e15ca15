import { expect, test } from 'vitest'
import { bytes, certain, count, money, percent, score, short, signed, times } from './figures'

test.each([
  [0, '$0.00'],
  [214.6, '$214.60'],
  [1234.5, '$1,234.50'],
  [0.99, '$0.99'],
  [0.05, '$0.05'],
  [0.118, '$0.12'],
  [0.0612, '$0.061'],
  [0.002, '$0.002'],
  [0.0003, '$0.0003'],
  [0.00000012, '< $0.000001'],
  [-1.5, '−$1.50'],
])('money of %d is %s', (usd, want) => expect(money(usd)).toBe(want))

test.each([
  [0, '0'],
  [412, '412'],
  [999.7, '1 k'],
  [7100, '7.1 k'],
  [57_000, '57 k'],
  [999_600, '1 M'],
  [7_100_000, '7.1 M'],
  [2_500_000_000, '2.5 G'],
])('short of %d is %s', (n, want) => expect(short(n)).toBe(want))

test.each([
  [0, 10, '0 %'],
  [41, 18412, '0.2 %'],
  [1, 100_000, '< 0.1 %'],
  [38, 100, '38 %'],
  [1, 0, '0 %'],
])('percent of %d in %d is %s', (part, of, want) => expect(percent(part, of)).toBe(want))

test('the rest has units', () => {
  expect(count(18412)).toBe('18,412')
  expect(score(12)).toBe('12.0')
  expect([certain(90), certain(99.9), certain(86.64)]).toEqual(['90 %', '99.9 %', '86.6 %'])
  expect([signed(14), signed(-3)]).toEqual(['+14', '−3'])
  expect(bytes(36_000)).toBe('36 KB')
  expect(times(1, 'kill')).toBe('1 kill')
  expect(times(2, 'kill')).toBe('2 kills')
})
