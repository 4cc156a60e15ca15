import { expect, test } from 'vitest'
import { sectionOf } from './yaml'

const yaml = `data_dir: ./data
providers:
    openai:
        base_url: https://api.openai.com

    lab:
        base_url: http://10.0.0.5
retention: {events: 30d}
`

test('a section is found and set flush', () => {
  expect(sectionOf(yaml, 'providers')).toBe('openai:\n    base_url: https://api.openai.com\n\nlab:\n    base_url: http://10.0.0.5')
})

test('a section on one line, the last, and none', () => {
  expect(sectionOf(yaml, 'data_dir')).toBe('./data')
  expect(sectionOf(yaml, 'retention')).toBe('{events: 30d}')
  expect(sectionOf(yaml, 'gateway')).toBe('')
})
