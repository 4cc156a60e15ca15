import { expect, test } from 'vitest'
import { levelsOf } from './levels'

test('levels are round and reach the most', () => {
  expect(levelsOf(7)).toEqual([0, 2, 4, 6, 8])
  expect(levelsOf(400)).toEqual([0, 100, 200, 300, 400])
  expect(levelsOf(950)).toEqual([0, 500, 1000])
  expect(levelsOf(0.12).map((v) => v.toFixed(2))).toEqual(['0.00', '0.05', '0.10', '0.15'])
})

test('what is counted has no halves', () => {
  expect(levelsOf(1, 1)).toEqual([0, 1])
  expect(levelsOf(3, 1)).toEqual([0, 1, 2, 3])
})

test('nothing has a level as well', () => {
  expect(levelsOf(0, 1)).toEqual([0, 1])
})
