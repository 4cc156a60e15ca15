import { expect, test } from 'vitest'
import type { ListedIncident as Incident } from '../../api/shapes'
import { costOf, dearestFirst, groupsOf, headline } from './groups'

const noon = Date.parse('2026-11-12T12:00:00Z')

function incident(id: string, agent: string, hoursAgo: number, more: Partial<Incident> = {}): Incident {
  return {
    id, agent, session: `${agent}-1`, kind: 'kill_switch', action: 'kill', shadow: false, status: 'open', detector: 'stall',
    sentence: `${agent} called find 4 times with the same arguments and got the same error.`, time: new Date(noon - hoursAgo * 3600_000).toISOString(), ...more,
  } as Incident
}

test('equal incidents of several agents are one group', () => {
  const groups = groupsOf([incident('a', 'w-1', 0), incident('b', 'other', 1, { sentence: 'other repeats itself.' }), incident('c', 'w-2', 2)])
  expect(groups.map((g) => g.incidents.map((i) => i.id))).toEqual([['a', 'c'], ['b']])
  expect(groups.map(headline)).toEqual(['2 agents called find 4 times with the same arguments and got the same error.', 'other repeats itself.'])
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
  const list = [incident('a', 'alone', 0, { sentence: 'alone repeats itself.', burned_usd: 0.03 }), incident('b', 'w-1', 0, cheap), incident('c', 'w-2', 0, cheap)]
  expect(dearestFirst(groupsOf(list)).map((g) => [g.incidents.length, costOf(g)])).toEqual([[2, 0.04], [1, 0.03]])
})

test('several agents do things together', () => {
  for (const [one, several] of [
    ['repeats itself: score 12.', 'repeat themselves: score 12.'],
    ['was refused by apply.', 'were refused by apply.'],
    ['has reached its hard daily budget.', 'have reached their hard daily budget.'],
    ['was refused by apply, whatever it tried in between.', 'were refused by apply, whatever they tried in between.'],
  ]) {
    expect(headline(groupsOf([incident('a', 'w-1', 0, { sentence: `w-1 ${one}` }), incident('b', 'w-2', 1, { sentence: `w-2 ${one}` })])[0]!)).toBe(`2 agents ${several}`)
  }
})

test('sessions and turns that reached a limit are counted', () => {
  const limit = (id: string, agent: string, span: string) => incident(id, agent, 0, { kind: 'session_limit', detector: 'session', sentence: `This ${span} of ${agent} has made 8 calls, and session.calls allows 8 calls.` })
  const said = (incidents: Incident[]) => headline(groupsOf(incidents)[0]!)
  expect(said([limit('a', 'w-1', 'session'), limit('b', 'w-2', 'session')])).toBe('2 sessions of 2 agents have made 8 calls, and session.calls allows 8 calls.')
  expect(said([limit('a', 'w-1', 'turn'), limit('b', 'w-1', 'turn')])).toBe('2 turns of w-1 have made 8 calls, and session.calls allows 8 calls.')
  expect(said([limit('a', 'w-1', 'turn')])).toBe('This turn of w-1 has made 8 calls, and session.calls allows 8 calls.')
})

test('one agent keeps its name', () => {
  expect(headline(groupsOf([incident('a', 'w-1', 0), incident('b', 'w-1', 1)])[0]!)).toMatch(/^w-1 called/)
})
