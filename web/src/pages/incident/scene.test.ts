import { expect, test } from 'vitest'
import type { Event, Incident, Verdict } from '../../api/shapes'
import { verdictOf } from '../../api/verdict'
import { numbersOf, refused, sceneOf, upTo } from './scene'

const noon = Date.parse('2026-11-12T12:00:00Z')

function call(n: number, tool: string, more: Partial<Event> = {}): Event {
  return {
    id: `evt_${String(n).padStart(13, '0')}`, time: new Date(noon + n * 10_000).toISOString(),
    event_type: 'llm_call', session: 'recon', retry: false, blocked: false, score: 0, tool_calls: [tool], ...more,
  } as Event
}

const calls = [1, 2, 3, 4, 5, 6].map((n) => call(n, n === 1 ? 'list' : 'find'))
const stopped = call(7, '', { event_type: 'kill_switch', tool_calls: [], blocked: true, score: 12 })

const incident = { id: 'inc_bcdf', event: stopped.id, session: 'recon', settings: { kill_switch: { window_size: 5 } } } as Incident

const at = (n: number) => new Date(noon + n * 10_000 + 3).toISOString()

const verdict = {
  score: 12, certainty: 0,
  signals: [
    {
      detector: 'similarity', level: 'kill', score: 12, threshold: 10,
      matches: [
        { entry: 1, time: at(4), prompt_distance: 1, response_distance: -1, same_tools: true },
        { entry: 2, time: at(5), prompt_distance: -1, response_distance: 0, same_tools: false },
        { entry: 3, time: '2026-11-11T00:00:00Z', prompt_distance: 0, response_distance: 0, same_tools: true },
      ],
    },
    { detector: 'stall', level: 'kill', rounds: [{ index: 40, letter: 'A', tool: 'find' }, { index: 41, letter: 'A', tool: 'find' }] },
  ],
} as Verdict

test('a window holds the last calls, the one in question last', () => {
  const scene = sceneOf(incident, verdict, [...calls, stopped], numbersOf([...calls, stopped]))!
  expect(scene.entries.map((e) => e.number)).toEqual([3, 4, 5, 6, 7])
})

test('retries and calls blocked earlier are not in it', () => {
  const retry = call(6, 'find', { id: 'evt_0000000000006b', retry: true })
  const blocked = call(6, '', { id: 'evt_0000000000006c', event_type: 'blocked' })
  const scene = sceneOf(incident, verdict, [...calls, retry, blocked, stopped], new Map())!
  expect(scene.entries.map((e) => e.event.id)).not.toContain(retry.id)
  expect(scene.entries.map((e) => e.event.id)).not.toContain(blocked.id)
})

test('a call that was rejected stands last at its own incident', () => {
  const rejected = call(7, '', { event_type: 'blocked', blocked: true, incident: 'inc_r' })
  const raised = { ...incident, id: 'inc_r', action: 'reject', event: 'evt_0000000000006w', time: rejected.time } as Incident
  const scene = sceneOf(raised, verdict, upTo(raised, [...calls, rejected, call(8, '', { event_type: 'blocked', incident: 'inc_r' })]), new Map())!
  expect(scene.entries.at(-1)?.event.id).toBe(rejected.id)
  const killed = { ...raised, action: 'kill' } as Incident
  expect(sceneOf(killed, verdict, [...calls, rejected], new Map())!.entries.at(-1)?.event.id).toBe(calls.at(-1)!.id)
})

test('the first call that was rejected stands last', () => {
  const rejected = [7, 8].map((n) => call(n, '', { event_type: 'blocked', blocked: true, incident: 'inc_bcdf' }))
  const scene = sceneOf({ ...incident, event: 'evt_0000000000006w', action: 'reject' } as Incident, verdict, [...calls, ...rejected], numbersOf([...calls, ...rejected]))!
  expect(scene.entries.map((e) => e.number)).toEqual([3, 4, 5, 6, 7])
})

test('what a limit refused stands last, though it does not name the incident', () => {
  const [before, last] = [6, 7].map((n) => call(n, '', { id: `evt_000000000000${n}z`, event_type: 'blocked', blocked: true, block_reason: 'session_exceeded' }))
  const raised = { ...incident, action: 'block', reason: 'session_exceeded', event: 'evt_0000000000007w', time: last!.time } as Incident
  const all = [...calls, before!, last!]
  const scene = sceneOf(raised, verdictOf({} as Incident), upTo(raised, all), numbersOf(all))!
  expect(scene.entries.map((e) => e.number)).toEqual([3, 4, 5, 6, 8])
  expect(refused(scene)).toBe(true)
  const early = { ...raised, time: calls[5]!.time, event: last!.id } as Incident
  expect(sceneOf(early, verdictOf({} as Incident), upTo(early, all), new Map())!.entries.at(-1)!.event.id).not.toBe(last!.id)
  const spent = { ...raised, reason: 'budget_exceeded' } as Incident
  expect(refused(sceneOf(spent, verdictOf({} as Incident), all, new Map()))).toBe(false)
})

test('a match is the last call that had arrived when it was judged', () => {
  const scene = sceneOf(incident, verdict, [...calls, stopped], new Map())!
  expect(scene.matches).toEqual({ prompt: [1], response: [2], tools: [1] })
  expect(scene.compared).toEqual({ prompt: 4, response: 3, tools: 3 })
  expect(scene.loopFrom).toBe(1)
})

test('equal calls under changing users match too, and their count is no score', () => {
  const streak = { detector: 'similarity', family: 'streak', level: 'kill', score: 36, threshold: 36, matches: verdict.signals![0]!.matches }
  const scene = sceneOf(incident, { ...verdict, score: 9, signals: [streak] } as Verdict, [...calls, { ...stopped, score: 9 }], new Map())!
  expect(scene.matches).toEqual({ prompt: [1], response: [2], tools: [1] })
  expect(scene.entries.at(-1)?.score).toBe(9)
})

test('calls within one millisecond are told apart', () => {
  const quick = [4, 5].map((n) => call(n, 'find', { time: `2026-11-12T12:00:40.00012${n}Z` }))
  const matches = [{ time: '2026-11-12T12:00:40.000124Z', same_tools: true }, { time: '2026-11-12T12:00:40.0001259Z', same_tools: true }]
  const scene = sceneOf(incident, { signals: [{ detector: 'similarity', matches }] } as Verdict, [...quick, calls[5]!, stopped], new Map())!
  expect(scene.matches.tools).toEqual([0, 1])
})

test('a call that was let through stands last, though written after its incident', () => {
  const through = call(7, 'find')
  const later = call(8, 'find')
  const shadow = { ...incident, event: 'evt_0000000000006w', time: through.time } as Incident
  const scene = sceneOf(shadow, verdict, upTo(shadow, [...calls, through, later]), new Map())!
  expect(scene.entries.at(-1)?.event.id).toBe(through.id)
})

test('a call does not match itself', () => {
  const scene = sceneOf(incident, verdict, calls.slice(0, 4), new Map())!
  expect(scene.compared.prompt).toBe(3)
  expect(scene.matches.prompt).not.toContain(3)
})

test('each call has the certainty of its own verdict, the last that of the incident', () => {
  const sure = calls.map((c, i) => ({ ...c, verdict: i < 4 ? undefined : ({ certainty: i * 10 } as Verdict) }))
  const scene = sceneOf(incident, { ...verdict, certainty: 96.4 }, [...sure, stopped], new Map())!
  expect(scene.entries.map((e) => e.certainty)).toEqual([0, 0, 40, 50, 96.4])
})

test('rounds get their letters where the tools agree', () => {
  const scene = sceneOf(incident, verdict, [...calls, stopped], new Map())!
  expect(scene.entries.map((e) => e.letter)).toEqual([undefined, undefined, 'A', 'A', undefined])
  const between = call(6, 'other', { id: 'evt_0000000000006d', session: 'another' })
  const shared = sceneOf(incident, verdict, [...calls, between, stopped], new Map())!
  expect(shared.entries.map((e) => e.letter)).toEqual([undefined, 'A', 'A', undefined, undefined])
  const others = calls.map((c) => ({ ...c, tool_calls: ['other'] }))
  const unnamed = sceneOf(incident, verdict, [...others, stopped], new Map())!
  expect(unnamed.entries.every((e) => e.letter === undefined)).toBe(true)
})

test('a call of which nothing was said has a scene without matches', () => {
  expect(sceneOf(incident, verdictOf({} as Incident), calls, new Map())!.hasMatches).toBe(false)
  expect(sceneOf(incident, verdict, [], new Map())).toBeUndefined()
})
