import { expect, test } from 'vitest'
import { oftenWords } from './often'

test('the nth time is told where all are counted', () => {
  expect([1, 2, 3, 11, 22, 100].map((n) => oftenWords(n, false))).toEqual(['First time', '2nd time', '3rd time', '11th time', '22nd time', '100th time'])
  expect(oftenWords(0, false)).toBe('')
})

test('a count that ends before all are counted says so', () => {
  expect(oftenWords(100, true)).toBe('100 times or more')
})
