import { expect, test } from 'vitest'
import { legible, visible } from './visible'

test.each([
  ['plain text\nwith ünïcode\tand tabs', 'plain text\nwith ünïcode\tand tabs'],
  ['evil\u202egnp.exe', 'evil␣gnp.exe'],
  ['a\u0000b\u001bc\u200bd', 'a␣b␣c␣d'],
  ['line\r\nbreak', 'line\nbreak'],
])('%j is shown as %j', (text, want) => expect(visible(text)).toBe(want))

test('what agents say in an answer is legible, and what a person edits is as it was', () => {
  const said = { model: 'a\u202eb', verdict: { sentence: '\u202ec', signals: [{ tools: ['d\u2066'], score: 1 }] }, next: null }
  expect(legible([said])).toEqual([{ model: 'a␣b', verdict: { sentence: '␣c', signals: [{ tools: ['d␣'], score: 1 }] }, next: null }])
  const rule = { name: '\u202er', condition: { model: '\u202em' } }
  expect(legible(rule)).toEqual(rule)
})
