import { expect, test } from 'vitest'
import type { IncidentDetail, Policy, Verdict } from '../../api/shapes'
import { limitsOf } from './limits'

const policy = { budgets: { day: { soft_usd: 1, hard_usd: 2, soft_tokens: 0, hard_tokens: 0 }, month: { hard_usd: 0, hard_tokens: 90 } }, session: { calls: 6, turn: { usd: 3 } } } as unknown as Policy

test.each([
  ['budget_hard', 'budget', 'day', ['budgets.day.hard_usd']],
  ['budget_soft', 'budget', 'day', ['budgets.day.soft_usd']],
  ['budget_hard', 'budget', 'month', ['budgets.month.hard_tokens']],
  ['session_limit', 'session', 'session.calls', ['session.calls']],
  ['session_limit', 'session', 'session.turn.usd', ['session.turn.usd']],
  ['session_limit', 'session', 'session.minutes', []],
  ['growth', 'growth', '', []],
])('the limits of %s by %s %s', (kind, check, name, want) => {
  const verdict = { findings: [{ check, name }] } as unknown as Verdict
  expect(limitsOf({ kind } as IncidentDetail, verdict, policy).map((l) => l.path)).toEqual(want)
})
