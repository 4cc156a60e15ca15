import { expect, test } from 'vitest'
import type { IncidentDetail, Policy, Setting, Verdict } from '../../api/shapes'
import { limitsOf } from './limits'

const policy = { budgets: { day: { soft_usd: 1, hard_usd: 2, soft_tokens: 0, hard_tokens: 0 }, month: { hard_usd: 0, hard_tokens: 90 } }, session: { calls: 6, turn: { usd: 3 } } } as unknown as Policy
const settings = [
  { path: 'session.calls', label: 'Calls per session', type: 'integer' },
  { path: 'session.minutes', label: 'Minutes per session', type: 'integer' },
  { path: 'session.turn.usd', label: 'USD per turn', type: 'money' },
] as Setting[]

test.each([
  ['budget_hard', 'budget', 'day', ['budgets.day.hard_usd']],
  ['budget_soft', 'budget', 'day', ['budgets.day.soft_usd']],
  ['budget_hard', 'budget', 'month', ['budgets.month.hard_tokens']],
  ['session_limit', 'session', 'session.calls', ['session.calls']],
  ['session_limit', 'session', 'session.turn.usd', ['session.turn.usd']],
  ['session_limit', 'session', 'session.minutes', []],
  ['growth', 'growth', '', []],
])('the limits of %s by %s %s', (kind, check, name, want) => {
  const verdict = { findings: [check === 'budget' ? { check, period: name } : { check, name }] } as unknown as Verdict
  expect(limitsOf({ kind } as IncidentDetail, verdict, policy, settings).map((l) => l.path)).toEqual(want)
})

test('a limit of a session has the words of its setting', () => {
  const verdict = { findings: [{ check: 'session', name: 'session.turn.usd' }] } as unknown as Verdict
  expect(limitsOf({ kind: 'session_limit' } as IncidentDetail, verdict, policy, settings)).toEqual([{ path: 'session.turn.usd', label: 'USD per turn', money: true }])
})
