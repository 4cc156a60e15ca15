import { expect, test } from 'vitest'
import type { Policy, Setting } from '../api/shapes'
import { amount, changeOf, faultOf, ladderWith, rungSentence, rungsOf, saysSomething, valueOf } from './settings'

const setting = (s: Partial<Setting>): Setting => ({ path: 'new.one', label: 'New one', help: '', type: 'integer', default: 3, ...s })

test('a setting that nobody here has heard of is read and changed by its path', () => {
  const policy = { new: { one: 7 } } as unknown as Policy
  expect(valueOf(policy, 'new.one')).toBe(7)
  expect(valueOf(policy, 'newer.one')).toBeUndefined()
  expect(changeOf({ 'new.one': 4, 'new.two.three': null, four: 'x' })).toEqual({ new: { one: 4, two: { three: null } }, four: 'x' })
})

test('limits are those that the declaration has', () => {
  const fault = (s: Setting, value: unknown, other?: Setting, limit?: unknown) =>
    faultOf(s, other ? [s, other] : [s], (path) => (path === s.path ? value : limit))
  const lined = setting({ minimum: 1, maximum: 9, unit: 'min' })
  expect(fault(lined, 5)).toBeUndefined()
  expect(fault(lined, 0)).toBe('At least 1 min')
  expect(fault(lined, 10)).toBe('At most 9 min')
  expect(fault(lined, null)).toBeUndefined()
  expect(fault(setting({ above: 0 }), 0)).toBe('More than 0')
  const soft = setting({ not_above: 'new.hard', type: 'money' })
  const hard = setting({ path: 'new.hard', label: 'Hard limit', type: 'money' })
  expect(fault(soft, 5, hard, 4)).toBe('Above the hard limit of $4.00')
  expect(fault(soft, 5, hard, 0)).toBeUndefined()
})

test('values are shown with their unit', () => {
  expect(amount(setting({ unit: 'calls' }), 2000)).toBe('2,000 calls')
  expect(amount(setting({ type: 'number', unit: '%' }), 99.5)).toBe('99.5 %')
  expect(amount(setting({ type: 'money' }), 5)).toBe('$5.00')
  expect(amount(setting({ type: 'boolean' }), false)).toBe('off')
  expect(amount(setting({ type: 'choice' }), 'kill')).toBe('kill')
  expect(amount(setting({ type: 'ladder' }), 'kill')).toBe('warn → kill')
  expect(amount(setting({ type: 'ladder' }), ['warn', 'steer', 'kill'])).toBe('warn → steer → kill')
  expect(amount(setting({ type: 'hours' }), [{ days: ['mon', 'tue'], from: '08:00', to: '18:00' }])).toBe('mon tue 08:00 to 18:00')
})

test('a limit of 0 is none', () => {
  expect([0, '', [], undefined].some(saysSomething)).toBe(false)
  expect([false, 1, 'UTC'].every(saysSomething)).toBe(true)
})

const rungs = ['warn', 'steer', 'reject', 'halt', 'kill']

test('a ladder takes a rung in its place, and keeps warn', () => {
  expect(ladderWith(rungs, rungsOf('kill'), 'steer', true)).toEqual(['warn', 'steer', 'kill'])
  expect(ladderWith(rungs, ['warn', 'steer', 'kill'], 'kill', false)).toEqual(['warn', 'steer'])
  expect(ladderWith(rungs, ['warn'], 'warn', false)).toEqual(['warn'])
})

test('every rung says what it does', () => {
  for (const rung of rungs) expect(rungSentence(rung)).not.toBe('')
})
