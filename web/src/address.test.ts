import { expect, test } from 'vitest'
import { parseSearch, stringifySearch } from './address'

test('what looks like a number or a truth value stays a text', () => {
  expect(parseSearch('?session=12345&shadow=true&agent=0042')).toEqual({ session: '12345', shadow: 'true', agent: '0042' })
})

test('what is written is read as it was', () => {
  const search = { session: 'a&b=c d+e%', shadow: 'false', agent: 'ä"1"' }
  expect(parseSearch(stringifySearch(search))).toEqual(search)
})

test('an address without anything to say has no question mark', () => {
  expect(stringifySearch({ span: undefined })).toBe('')
  expect(parseSearch('')).toEqual({})
})
