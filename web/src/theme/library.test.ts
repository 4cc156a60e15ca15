import { expect, test } from 'vitest'

const sources: Record<string, string> = import.meta.glob('../**/*.{ts,tsx}', { query: '?raw', import: 'default', eager: true })
const styles = Object.keys(import.meta.glob('/node_modules/@mantine/core/styles/*.css')).map((path) => path.match(/([^/]+)\.css$/)![1]!)
const library = sources['./library.ts']!

test('every component in use has its styles', () => {
  expect(styles).toContain('Button')
  const used = new Set<string>()
  for (const source of Object.values(sources)) {
    for (const [, names] of source.matchAll(/import \{([^}]*)\} from '@mantine\/core'/g)) {
      for (const name of names!.split(',')) used.add(name.trim())
    }
  }
  const missing = [...used].filter((name) => styles.includes(name) && !library.includes(`/styles/${name}.css'`))
  expect(missing).toEqual([])
})
