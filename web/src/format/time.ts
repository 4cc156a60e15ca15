// Times are shown in the reader's own zone, days in words, 24 hours.

const clockFormat = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const minuteFormat = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const dayFormat = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })
const fullFormat = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'short',
})

type When = string | number | Date

/** clock is 02:14:07. */
export function clock(t: When): string {
  return clockFormat.format(new Date(t))
}

/** minute is 02:14. */
export function minute(t: When): string {
  return minuteFormat.format(new Date(t))
}

/** day is 12 Nov. */
export function day(t: When): string {
  return dayFormat.format(new Date(t))
}

/** full is 12 Nov 2026, 02:14:07 CET. */
export function full(t: When): string {
  return fullFormat.format(new Date(t))
}

/** zone is the reader's time zone at an instant: CET. */
export function zone(t: When = Date.now()): string {
  return fullFormat.formatToParts(new Date(t)).find((p) => p.type === 'timeZoneName')?.value ?? 'UTC'
}

/** brief is 02:14:07 today and 12 Nov, 02:14 on other days. */
export function brief(t: When, now: When = Date.now()): string {
  const d = new Date(t)
  return d.toDateString() === new Date(now).toDateString() ? clock(d) : `${day(d)}, ${minute(d)}`
}

/** daysBack is midnight in the reader's zone, so many days back from today on:
 *  a day of a chart is then a day of the calendar. */
export function daysBack(days: number, now: When = Date.now()): string {
  const d = new Date(now)
  return new Date(d.getFullYear(), d.getMonth(), d.getDate() - days + 1).toISOString()
}

/** ago is now, 18 s ago, 7 min ago, 3 h ago, 5 d ago. */
export function ago(t: When, now: When = Date.now()): string {
  const ms = new Date(now).getTime() - new Date(t).getTime()
  return ms < 3000 ? 'now' : `${coarse(ms)} ago`
}

/** coarse is the largest unit of a span: 18 s, 7 min, 3 h, 5 d. */
export function coarse(ms: number): string {
  const s = Math.floor(ms / 1000)
  if (s < 60) return `${s} s`
  if (s < 3600) return `${Math.floor(s / 60)} min`
  if (s < 48 * 3600) return `${Math.floor(s / 3600)} h`
  return `${Math.floor(s / 86400)} d`
}

/** span is 320 ms, 4.3 s, 22 min 38 s or 2 h 5 min. */
export function span(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`
  const s = Math.round(ms / 1000)
  if (s < 60) return `${s} s`
  if (s < 3600) return joined(Math.floor(s / 60), 'min', s % 60, 's')
  if (s < 86400) return joined(Math.floor(s / 3600), 'h', Math.floor((s % 3600) / 60), 'min')
  return joined(Math.floor(s / 86400), 'd', Math.floor((s % 86400) / 3600), 'h')
}

function joined(a: number, unitA: string, b: number, unitB: string): string {
  return b === 0 ? `${a} ${unitA}` : `${a} ${unitA} ${b} ${unitB}`
}
