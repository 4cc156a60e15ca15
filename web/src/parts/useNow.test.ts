import { afterEach, expect, test, vi } from 'vitest'
import { onTick } from './useNow'

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

test('however many listen, one timer runs, and none when nobody does', () => {
  vi.useFakeTimers()
  vi.stubGlobal('window', globalThis)
  const heard: number[] = []
  const ends = Array.from({ length: 400 }, (_, i) => onTick(() => heard.push(i)))
  expect(vi.getTimerCount()).toBe(1)
  vi.advanceTimersByTime(1000)
  expect(heard).toHaveLength(400)
  ends.forEach((end) => end())
  expect(vi.getTimerCount()).toBe(0)
  onTick(() => heard.push(400))()
  expect(vi.getTimerCount()).toBe(0)
})
