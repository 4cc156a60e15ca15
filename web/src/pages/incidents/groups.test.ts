import { expect, test } from 'vitest'
import type { ListedIncident as Incident } from '../../api/shapes'
import { costOf, dearestFirst, groupsOf, headline } from './groups'

const noon = Date.parse('2026-11-12T12:00:00Z')

function incident(id: string, agent: string, hoursAgo: number, more: Partial<Incident> = {}, tool = 'find'): Incident {
  return {
    id, agent, session: `${agent}-1`, kind: 'kill_switch', action: 'kill', shadow: false, status: 'open', detector: 'stall', settings: {},
    verdict: { check: 'stall', findings: [{ check: 'stall' }], signals: [{ detector: 'stall', family: 'repeat', tools: [tool], count: 4, outcome: 'error' }] },
    sentence: `${agent} called ${tool} 4 times with the same arguments and got the same error.`, time: new Date(noon - hoursAgo * 3600_000).toISOString(), ...more,
  } as unknown as Incident
}

test('equal incidents of several agents are one group', () => {
  const groups = groupsOf([incident('a', 'w-1', 0), incident('b', 'other', 1, {}, 'read'), incident('c', 'w-2', 2)])
  expect(groups.map((g) => g.incidents.map((i) => i.id))).toEqual([['a', 'c'], ['b']])
  expect(groups.map(headline)).toEqual([
    '2 agents alike: w-1 called find 4 times with the same arguments and got the same error.',
    'other called read 4 times with the same arguments and got the same error.',
  ])
})

test('what was decided otherwise, only observed, or lies a day apart is another group', () => {
  const list = [incident('a', 'w-1', 0), incident('b', 'w-2', 0, { status: 'kept' }), incident('c', 'w-3', 0, { shadow: true }), incident('d', 'w-4', 30)]
  expect(groupsOf(list)).toHaveLength(4)
})

test('a group stays the same when another incident joins it', () => {
  const before = [incident('b', 'w-2', 1), incident('c', 'w-3', 30)]
  const keys = groupsOf(before).map((g) => g.key)
  expect(new Set(keys).size).toBe(2)
  expect(groupsOf([incident('a', 'w-1', 0), ...before]).map((g) => g.key)).toEqual(keys)
})

test('what costs the most together comes first', () => {
  const cheap = { burned_usd: 0.02, burned_calls: 3 }
  const list = [incident('a', 'alone', 0, { burned_usd: 0.03 }, 'read'), incident('b', 'w-1', 0, cheap), incident('c', 'w-2', 0, cheap)]
  expect(dearestFirst(groupsOf(list)).map((g) => [g.incidents.length, costOf(g)])).toEqual([[2, 0.04], [1, 0.03]])
})

test('names of agents and sessions may be words of the sentence', () => {
  const groups = groupsOf([incident('a', 'find', 0), incident('b', 'error', 1)])
  expect(groups.map(headline)).toEqual(['2 agents alike: find called find 4 times with the same arguments and got the same error.'])
})

test('sessions that reached a limit are counted, each limit by itself', () => {
  const limit = (id: string, agent: string, session: string, name = 'session.calls', calls = 8) =>
    incident(id, agent, 0, {
      kind: 'session_limit', detector: 'session', session, settings: { session: { calls, turn: { calls } } } as Incident['settings'],
      verdict: { check: 'session', findings: [{ check: 'session', name }] } as Incident['verdict'],
      sentence: `This session of ${agent} has made 8 calls, and ${name} allows ${calls} calls.`,
    })
  const said = (...incidents: Incident[]) => groupsOf(incidents).map(headline)
  expect(said(limit('a', 'w-1', 's'), limit('b', 'w-2', 's'))).toEqual(['2 agents alike: This session of w-1 has made 8 calls, and session.calls allows 8 calls.'])
  expect(said(limit('a', 'w-1', 's'), limit('b', 'w-1', 't'))).toEqual(['2 sessions alike: This session of w-1 has made 8 calls, and session.calls allows 8 calls.'])
  expect(said(limit('a', 'w-1', 's'), limit('b', 'w-1', 't', 'session.turn.calls'), limit('c', 'w-1', 'u', 'session.calls', 9))).toHaveLength(3)
})

test('budgets are together where the same was spent', () => {
  const spent = (id: string, agent: string, cost_usd: number) =>
    incident(id, agent, 0, { kind: 'budget_hard', detector: 'budget', verdict: { check: 'budget', findings: [{ check: 'budget', name: 'day', spent: { cost_usd, tokens: 1 } }] } as Incident['verdict'] })
  expect(groupsOf([spent('a', 'w-1', 2), spent('b', 'w-2', 2), spent('c', 'w-3', 3)]).map((g) => g.incidents.length)).toEqual([2, 1])
})

test('one agent keeps its name', () => {
  expect(headline(groupsOf([incident('a', 'w-1', 0), incident('b', 'w-1', 1)])[0]!)).toMatch(/^w-1 called/)
})
