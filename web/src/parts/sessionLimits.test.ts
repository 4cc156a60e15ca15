import { expect, test } from 'vitest'
import type { Session } from '../api/shapes'
import { usedOf } from './sessionLimits'

const session = {
  first_seen: '2026-03-11T12:00:00Z', last_seen: '2026-03-11T12:10:30Z',
  totals: { calls: 12, blocked: 2, errors: 0, cost_usd: 0.5, tokens: { input: 900, output: 100, cache_read: 0, cache_write: 0 } },
} as unknown as Session

test('only limits that are set are shown, with what was used', () => {
  const none = { calls: 0, usd: 0, tokens: 0, minutes: 0, turn: { calls: 0, usd: 0 } }
  expect(usedOf(session, none)).toEqual([])
  const used = usedOf(session, { ...none, calls: 10, tokens: 2000, minutes: 30 })
  expect(used.map((u) => [u.name, u.reached])).toEqual([['Calls', true], ['Tokens', false], ['Minutes', false]])
  expect(used[0]!.says).toBe('10 of 10')
  expect(used[2]!.says).toBe('10 of 30')
})
