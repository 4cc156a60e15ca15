// What the dashboard makes of a setting that haltd declares. It names none: a
// new one appears here by itself.
import type { HourRange, Policy, Setting } from '../api/shapes'
import { count, money } from '../format/figures'

/** Draft holds what was edited, by path; null goes back to what lies below. */
export type Draft = Record<string, unknown>

/** valueOf is the value of a setting in a policy; undefined in one from before
 *  there was that setting. */
export function valueOf(policy: Policy, path: string): unknown {
  return path.split('.').reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], policy)
}

/** changeOf is a draft as the API takes it. */
export function changeOf(draft: Draft): Record<string, unknown> {
  const change: Record<string, unknown> = {}
  for (const [path, value] of Object.entries(draft)) {
    const names = path.split('.')
    const last = names.pop()!
    let at = change
    for (const name of names) at = (at[name] ??= {}) as Record<string, unknown>
    at[last] = value
  }
  return change
}

/** faultOf says what is wrong with a value, in the policy that a draft makes. */
export function faultOf(setting: Setting, all: Setting[], valueAt: (path: string) => unknown): string | undefined {
  const value = valueAt(setting.path)
  if (typeof value !== 'number') return undefined
  const { minimum, above, maximum } = setting
  if (minimum !== undefined && value < minimum) return `At least ${amount(setting, minimum)}`
  if (above !== undefined && value <= above) return `More than ${amount(setting, above)}`
  if (maximum !== undefined && value > maximum) return `At most ${amount(setting, maximum)}`
  const other = all.find((s) => s.path === setting.not_above)
  const limit = other && valueAt(other.path)
  if (other && typeof limit === 'number' && limit > 0 && value > limit) return `Above the ${lower(other.label)} of ${amount(other, limit)}`
  return undefined
}

/** amount is a value of a setting, with its unit. */
export function amount(setting: Setting, value: unknown): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  if (setting.type === 'ladder') return rungsOf(value).join(' → ')
  if (typeof value !== 'number') return Array.isArray(value) ? ranges(value as HourRange[]) : String(value)
  if (setting.type === 'money') return money(value)
  const figure = setting.type === 'integer' ? count(value) : String(value)
  // A score has no unit: 10 score reads like a slip.
  return setting.unit && setting.unit !== 'score' ? `${figure} ${setting.unit}` : figure
}

/** rungsOf are the rungs of a ladder, of which one alone stands for itself and
 *  warn. */
export function rungsOf(value: unknown): string[] {
  const rungs = Array.isArray(value) ? (value as string[]) : value ? [String(value)] : []
  return rungs.includes('warn') ? rungs : ['warn', ...rungs]
}

/** ladderWith is a ladder with a rung added or taken out, the mildest first. */
export function ladderWith(rungs: string[], on: string[], rung: string, taken: boolean): string[] {
  return rungs.filter((r) => r === 'warn' || (r === rung ? taken : on.includes(r)))
}

const sentences: Record<string, string> = {
  warn: 'The call passes and a warning is recorded. Always the first rung.',
  steer: 'The call passes with a note that tells the model what it repeats and what came of it. Twice at most; the only rung that changes a request.',
  reject: 'The call is answered 429 for a while. A client that waits gets through when it stops repeating itself.',
  halt: 'The turn ends. The session continues by itself when a person writes to it.',
  kill: 'The agent, or the session, is stopped until someone resumes it.',
}

/** rungSentence says what a step of a ladder does. */
export function rungSentence(rung: string): string {
  return sentences[rung] ?? ''
}

function ranges(hours: HourRange[]): string {
  return hours.map((h) => `${h.days?.length ? h.days.join(' ') : 'every day'} ${h.from} to ${h.to}`).join(', ') || 'always'
}

/** groupOf is what stands together: the settings of one day, of one section. */
export function groupOf(setting: Setting): string {
  return setting.path.slice(0, setting.path.lastIndexOf('.') + 1)
}

/** saysSomething leaves out limits that are none, and what a policy from before
 *  there was that setting does not have. */
export function saysSomething(value: unknown): boolean {
  return value !== undefined && value !== null && value !== 0 && value !== '' && !(Array.isArray(value) && value.length === 0)
}

export function upper(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

function lower(label: string): string {
  return label.charAt(0).toLowerCase() + label.slice(1)
}
