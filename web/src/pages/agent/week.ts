import type { HourRange } from '../../api/shapes'

// Allowed hours as a week of whole hours, which is what a person paints, and
// as ranges, which is what haltd keeps.

/** days of the week as ranges name them, in the order of the grid. */
export const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
export const dayNames = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const

/** Week is seven days of 24 hours: true where the agent may call. */
export type Week = boolean[][]

export function emptyWeek(allowed: boolean): Week {
  return days.map(() => Array<boolean>(24).fill(allowed))
}

/** weekOf paints ranges. An hour that is allowed in part is painted; exact is
 *  false when that happened, and the ranges say more than the week. */
export function weekOf(ranges: HourRange[]): { week: Week; exact: boolean } {
  if (ranges.length === 0) return { week: emptyWeek(true), exact: true }
  const week = emptyWeek(false)
  let exact = true
  for (const range of ranges) {
    const from = minuteOf(range.from)
    let to = minuteOf(range.to)
    if (to <= from) to += 24 * 60
    if (from % 60 !== 0 || to % 60 !== 0) exact = false
    for (const day of daysOf(range)) {
      for (let hour = Math.floor(from / 60); hour * 60 < to; hour++) {
        week[(day + Math.floor(hour / 24)) % 7]![hour % 24] = true
      }
    }
  }
  return { week, exact }
}

/** rangesOf is the shortest list of ranges that paints the week: runs of
 *  hours that reach over midnight stay whole, and days that are alike share
 *  a range. No range at all means always; never cannot be said. */
export function rangesOf(week: Week): HourRange[] {
  if (week.every((hours) => hours.every(Boolean))) return []
  const byHours = new Map<string, string[]>()
  days.forEach((day, d) => {
    for (const [from, to] of runsOf(week, d)) {
      const key = `${clockOf(from)} ${clockOf(to)}`
      byHours.set(key, [...(byHours.get(key) ?? []), day])
    }
  })
  return [...byHours].map(([key, on]) => {
    const [from, to] = key.split(' ') as [string, string]
    return { days: on.length === 7 ? [] : on, from, to }
  })
}

// The runs that begin on a day. One that goes on from the evening before
// belongs to that day; one that reaches midnight takes the morning after with
// it, up to 24 hours.
function runsOf(week: Week, day: number): [number, number][] {
  const today = week[day]!
  const runs: [number, number][] = []
  let hour = continues(week, day) ? morning(today) : 0
  while (hour < 24) {
    if (!today[hour]) {
      hour++
      continue
    }
    let end = hour
    while (end < 24 && today[end]) end++
    const next = (day + 1) % 7
    const tail = end === 24 && continues(week, next) ? morning(week[next]!) : 0
    runs.push([hour, end + tail])
    hour = end
  }
  return runs
}

// A morning goes on from the evening before when midnight is allowed on both
// sides, and a single range can hold it: neither day is allowed throughout.
function continues(week: Week, day: number): boolean {
  const before = week[(day + 6) % 7]!
  const today = week[day]!
  return before[23]! && today[0]! && !before.every(Boolean) && !today.every(Boolean) && morning(today) <= before.lastIndexOf(false) + 1
}

function morning(hours: boolean[]): number {
  const end = hours.indexOf(false)
  return end < 0 ? 24 : end
}

/** isAllowedAt reports whether an agent may call at an instant. */
export function isAllowedAt(ranges: HourRange[], zone: string, at: Date): boolean {
  if (ranges.length === 0) return true
  const { day, minute } = placeIn(zone, at)
  return ranges.some((range) => {
    const from = minuteOf(range.from)
    const to = minuteOf(range.to)
    const on = daysOf(range)
    if (from < to) return on.includes(day) && minute >= from && minute < to
    return (on.includes(day) && minute >= from) || (on.includes((day + 6) % 7) && minute < to)
  })
}

/** placeIn is where an instant falls in the week of a time zone. A zone that
 *  the browser does not know reads as UTC. */
export function placeIn(zone: string, at: Date): { day: number; minute: number } {
  const parts = formatterOf(zone).formatToParts(at)
  const part = (type: string) => parts.find((p) => p.type === type)?.value ?? ''
  return {
    day: Math.max(0, dayNames.findIndex((name) => name === part('weekday'))),
    minute: (Number(part('hour')) % 24) * 60 + Number(part('minute')),
  }
}

function formatterOf(zone: string): Intl.DateTimeFormat {
  const options = { weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
  try {
    return new Intl.DateTimeFormat('en-US', { ...options, timeZone: zone })
  } catch {
    return new Intl.DateTimeFormat('en-US', { ...options, timeZone: 'UTC' })
  }
}

/** inWords is Mon to Fri, 20:00 to 06:00. */
export function inWords(ranges: HourRange[]): string {
  if (ranges.length === 0) return 'always'
  return ranges.map((r) => `${daysInWords(daysOf(r))}, ${r.from} to ${r.to}`).join(' · ')
}

function daysInWords(on: number[]): string {
  if (on.length === 7) return 'every day'
  const consecutive = on.length > 2 && on.every((d, i) => i === 0 || d === on[i - 1]! + 1)
  if (consecutive) return `${dayNames[on[0]!]} to ${dayNames[on[on.length - 1]!]}`
  return on.map((d) => dayNames[d]).join(', ')
}

function daysOf(range: HourRange): number[] {
  const named = range.days ?? []
  const all = days.map((_, i) => i)
  return named.length === 0 ? all : all.filter((i) => named.includes(days[i]!))
}

function minuteOf(clock: string): number {
  const [hours, minutes] = clock.split(':').map(Number)
  return (hours ?? 0) * 60 + (minutes ?? 0)
}

function clockOf(hour: number): string {
  const within = hour > 24 ? hour - 24 : hour
  return `${String(within).padStart(2, '0')}:00`
}
