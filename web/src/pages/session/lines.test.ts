import { expect, test } from 'vitest'
import type { Event } from '../../api/shapes'
import { actOf, found, linesOf, resultOf } from './lines'

function call(change: Partial<Event>): Event {
  return { id: 'evt', event_type: 'llm_call', status: 200, blocked: false, tokens: { input: 1, output: 1 }, reply_bytes: 0, score: 0, ...change } as Event
}

test('a call is told in a few words', () => {
  const lines = linesOf(
    [
      call({ tool_calls: ['find_payment'] }),
      call({ reply_bytes: 25 }),
      call({ status: 503 }),
      call({ error: 'client_left' }),
      call({ event_type: 'blocked', blocked: true, status: 400, block_reason: 'budget_exceeded' }),
    ],
    undefined,
  )
  expect(lines.map((l) => [actOf(l), resultOf(l)])).toEqual([
    ['find_payment', ''],
    ['text', '25 B of text'],
    ['no reply', 'the provider answered 503'],
    ['no reply', 'client left'],
    ['not forwarded', 'over hard budget'],
  ])
})

test('what a round got is told where it is kept', () => {
  const event = call({ tool_calls: ['find_payment'] })
  const line = { event, number: 3, letter: 'A', times: 2, repeated: true, stopped: false, said: { arguments: '{"invoice":"INV-1"}', result: 'not found' } }
  expect(resultOf(line)).toBe('same result: not found')
  expect(found([line], 'inv-1')).toEqual([line])
})

test('calls are found by tool, status, number and outcome', () => {
  const lines = linesOf([call({ tool_calls: ['find_payment'] }), call({ status: 503 }), call({ model: 'gpt-4.1' })], undefined)
  for (const [text, numbers] of [['PAYMENT', [1]], ['503', [2]], ['#3', [3]], ['gpt', [3]], ['nothing of it', []], [' ', [1, 2, 3]]] as const) {
    expect(found(lines, text).map((l) => l.number)).toEqual(numbers)
  }
})
