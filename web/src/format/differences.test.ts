import { expect, test } from 'vitest'
import { differences, type Run } from './differences'

/** marked writes what differs in brackets. */
const marked = (runs: Run[]) => runs.map((r) => (r.differs ? `[${r.text}]` : r.text)).join('')

test.each([
  ['', '', '', ''],
  ['the same', 'the same', 'the same', 'the same'],
  ['', 'new', '', '[new]'],
  ['Attempt 1 of the job failed.', 'Attempt 2 of the job failed.', 'Attempt [1 ]of the job failed.', 'Attempt [2 ]of the job failed.'],
  ['find it', 'find it again, please', 'find it', 'find it [again, please]'],
  ['a b c d', 'a c d e', 'a [b ]c d', 'a c d [e]'],
  ['{"id":1,"n":"x"}', '{"id":22,"n":"x"}', '{"id":[1],"n":"x"}', '{"id":[22],"n":"x"}'],
  ['one\ntwo', 'one  two', 'one\ntwo', 'one  two'],
  ['größe 1', 'größe 2', 'größe [1]', 'größe [2]'],
  ['  x', 'x', '[  ]x', 'x'],
])('%j and %j', (a, b, left, right) => {
  const [l, r] = differences(a, b)
  expect([marked(l), marked(r)]).toEqual([left, right])
})

test('nothing is lost, however long and strange the texts', () => {
  const texts = ['', '\u202E\0 <b>x</b>', 'a b '.repeat(1500), 'b a '.repeat(1500), '.'.repeat(5000), ', '.repeat(2500)]
  for (const a of texts) {
    for (const b of texts) {
      const [l, r] = differences(a, b)
      expect(l.map((x) => x.text).join('')).toBe(a)
      expect(r.map((x) => x.text).join('')).toBe(b)
    }
  }
})
