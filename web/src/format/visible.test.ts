import { expect, test } from 'vitest'
import { visible } from './visible'

test.each([
  ['plain text\nwith ünïcode\tand tabs', 'plain text\nwith ünïcode\tand tabs'],
  ['evil\u202egnp.exe', 'evil␣gnp.exe'],
  ['a\u0000b\u001bc\u200bd', 'a␣b␣c␣d'],
  ['line\r\nbreak', 'line\nbreak'],
])('%j is shown as %j', (text, want) => expect(visible(text)).toBe(want))
