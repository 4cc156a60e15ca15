import { expect, test } from 'vitest'
import type { Delivery } from '../../api/shapes'
import { problemsOf } from './problemsOf'

test('what was given up is one problem a channel, the worst first', () => {
  const dead = (id: string, channel: string) => ({ id, channel }) as Delivery
  const got = problemsOf([dead('1', 'mail'), dead('2', 'slack'), dead('3', 'slack')])
  expect(got.map((p) => [p.channel, p.deliveries.map((d) => d.id)])).toEqual([
    ['slack', ['2', '3']],
    ['mail', ['1']],
  ])
  expect(problemsOf([])).toEqual([])
})
