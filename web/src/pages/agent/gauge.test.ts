import { expect, test } from 'vitest'
import type { AgentDetail, Event } from '../../api/shapes'
import { certaintyGauge, scoreGauge } from './gauge'

const agent = { policy: { kill_switch: { warn_at: 50, kill_at: 90, threshold: 10, require_corroboration: true } } } as AgentDetail

function call(certainty: number, level: string, score = 0, unmet?: string): Event {
  return { score, verdict: { certainty, level, unmet } } as Event
}

test('a healthy call is never red', () => {
  const { color } = certaintyGauge(agent)
  expect([call(8, 'pass'), call(70, 'warn'), call(97, 'warn'), call(97, 'kill')].map(color)).toEqual([
    'var(--s2)', 'var(--amber-fill)', 'var(--amber-fill)', 'var(--red-fill)',
  ])
})

test('a score that nothing corroborates is grey, however high', () => {
  const { color } = scoreGauge(agent)
  expect([call(0, 'pass', 2), call(0, 'warn', 55, 'only one signal'), call(0, 'kill', 12)].map(color)).toEqual([
    'var(--gray-fill)', 'var(--gray-fill)', 'var(--red-fill)',
  ])
})
