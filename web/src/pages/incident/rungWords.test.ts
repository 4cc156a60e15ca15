import { expect, test } from 'vitest'
import type { Incident } from '../../api/shapes'
import { endedByItself, rungWords } from './rungWords'

const of = (action: string, status: string, shadow = false) => ({ action, status, shadow, note: '' }) as unknown as Incident

test('a steer says whether the next rounds brought news', () => {
  expect(rungWords(of('steer', 'open'), 'Call #7')).toContain('not known yet')
  expect(rungWords(of('steer', 'recovered'), 'Call #7')).toContain('brought something new')
  expect(rungWords(of('steer', 'unmoved'), 'Call #7')).toContain('brought nothing new')
})

test('a halt says how it continues', () => {
  expect(rungWords(of('halt', 'open'), 'Call #7')).toContain('continues by itself when a person writes')
  expect(rungWords(of('halt', 'continued'), 'Call #7')).toContain('continued by itself')
})

test('what is no rung, or only observed, has no such words', () => {
  expect(rungWords(of('kill', 'open'), 'Call #7')).toBeUndefined()
  expect(rungWords(of('halt', 'open', true), 'Call #7')).toBeUndefined()
  expect(endedByItself(of('kill', 'resumed'))).toBeUndefined()
})
