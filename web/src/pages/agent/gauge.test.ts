import { expect, test } from 'vitest'
import type { AgentDetail, Event } from '../../api/shapes'
import { certaintyGauge, scoreGauge } from './gauge'

const agent = (corroborated: boolean) =>
  ({ policy: { kill_switch: { warn_at: 60, kill_at: 90, threshold: 10, require_corroboration: corroborated } } }) as unknown as AgentDetail

const call = (score: number, verdict: { level: string; certainty?: number; unmet?: string }) =>
  ({ score, verdict: { version: 2, certainty: 0, ...verdict } }) as unknown as Event

test('a score that no second signal agreed with is grey, also where something else warned', () => {
  const color = scoreGauge(agent(true)).color
  expect(color(call(12, { level: 'warn', unmet: 'one signal only' }))).toBe('var(--gray-fill)')
  expect(color(call(4, { level: 'warn' }))).toBe('var(--gray-fill)')
  expect(color(call(12, { level: 'warn' }))).toBe('var(--amber-fill)')
  expect(color(call(12, { level: 'kill' }))).toBe('var(--red-fill)')
  expect(scoreGauge(agent(false)).color(call(12, { level: 'kill', unmet: 'one signal only' }))).toBe('var(--red-fill)')
})

test('certainty is grey below the warn line, amber from it, red at a stop', () => {
  const color = certaintyGauge(agent(true)).color
  expect(color(call(0, { level: 'pass', certainty: 59 }))).toBe('var(--gray-fill)')
  expect(color(call(0, { level: 'warn', certainty: 60 }))).toBe('var(--amber-fill)')
  expect(color(call(0, { level: 'kill', certainty: 95 }))).toBe('var(--red-fill)')
})

test('a healthy call is never red', () => {
  const { color } = certaintyGauge(agent(true))
  expect([call(0, { level: 'pass', certainty: 8 }), call(0, { level: 'warn', certainty: 70 }), call(0, { level: 'warn', certainty: 97 }), call(0, { level: 'kill', certainty: 97 })].map(color)).toEqual([
    'var(--gray-fill)', 'var(--amber-fill)', 'var(--amber-fill)', 'var(--red-fill)',
  ])
})

test('a score that nothing corroborates is grey, however high', () => {
  const { color } = scoreGauge(agent(true))
  expect([call(2, { level: 'pass' }), call(55, { level: 'warn', unmet: 'only one signal' }), call(12, { level: 'kill' })].map(color)).toEqual([
    'var(--gray-fill)', 'var(--gray-fill)', 'var(--red-fill)',
  ])
})
