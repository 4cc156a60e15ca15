import { expect, test } from 'vitest'
import type { Audit, Event, Section, Verdict } from '../api/shapes'
import { auditWords } from './auditWords'
import { eventWords } from './eventWords'

const alert = (verdict: object) => eventWords({ event_type: 'alert', agent: 'bot', verdict: verdict as Verdict } as Event, []).what

test('a budget that is reached is told without the agent, from what the verdict says', () => {
  const budget = { check: 'budget', action: 'block', reason: 'budget_exceeded', name: 'day', period: 'day', sentence: 'bot has reached it.', spent: { cost_usd: 4, tokens: 4000 } }
  expect(alert({ sentence: budget.sentence, findings: [budget] })).toBe('has reached its hard daily budget: $4.00 and 4,000 tokens are spent')
  expect(alert({ findings: [{ ...budget, reason: 'budget_soft', name: 'month', period: 'month', spent: undefined }] })).toBe('has reached its soft monthly budget')
  expect(alert({ sentence: 'bot did something.' })).toBe('bot did something.')
})

test('what happened to an agent has the words of its incident', () => {
  const words = (event_type: string, action: string, shadow: boolean) =>
    eventWords({ event_type, shadow, agent: 'bot', score: 0, status: 0, verdict: { findings: [{ action, shadow }] } as unknown as Verdict } as Event, []).what
  expect([words('kill_switch', 'kill', false), words('kill_switch', 'kill', true)]).toEqual(['stopped', 'would be stopped'])
  expect([words('warning', 'reject', false), words('warning', 'reject', true), words('warning', 'kill', true)]).toEqual(['rejected', 'would be rejected', 'would be stopped'])
  expect(words('halt', 'halt', false)).toBe('halted')
})

const sections = [
  { name: 'kill_switch', label: 'Kill Switch', settings: [{ path: 'kill_switch.enabled', label: 'Kill Switch' }, { path: 'kill_switch.window_size', label: 'Window size' }] },
  { name: 'budgets', label: 'Budgets', settings: [{ path: 'budgets.day.hard_usd', label: 'hard USD' }] },
  { name: 'time_zone', label: '', settings: [{ path: 'time_zone', label: 'Time zone' }] },
] as unknown as Section[]

const change = (audit: Audit) => auditWords({ event_type: 'policy_change', audit } as Event, sections)

test('a change says what was done, by whom and why', () => {
  expect(change({ change: 'deactivated', by: 'ann', why: 'enough' })).toEqual({ what: 'Stopped by hand', who: 'ann: enough' })
  expect(change({ change: 'policy', by: 'ann', override: { kill_switch: { enabled: true, window_size: 30 } } }).what).toBe('Own policy: Kill Switch on; Window size: 30')
  expect(change({ change: 'policy', by: 'ann', override: { budgets: { day: { hard_usd: 1 } }, time_zone: 'UTC', kill_switch: { newer: 2 } } as Audit['override'] }).what).toBe('Own policy: kill_switch.newer: 2; Budgets; Time zone')
  expect(change({ change: 'policy', by: 'ann' }).what).toBe('Policy back to the defaults')
  expect(change({ change: 'key_created', by: 'ann', subject: 'key_x' }).what).toBe('Gateway key created: key_x')
  expect(change({ change: 'incident_closed', by: 'ann', status: 'false_positive' }).what).toBe('Incident decided: marked as wrong')
  expect(auditWords({ event_type: 'policy_change' } as Event, []).what).toBe('Policy changed')
})

test('a warning tells the certainty as other pages do, and reaches no line that was missed', () => {
  const warned = (certainty: number) => auditWords({ event_type: 'warning', score: 0, verdict: { version: 2, signals: [{ detector: 'stall', certainty, warn_at: 75, kill_at: 90 }] } as unknown as Verdict } as Event, []).what
  expect([warned(94.4), warned(89.7)]).toEqual(['Warned at certainty 94 %', 'Warned at certainty 89 %'])
})
