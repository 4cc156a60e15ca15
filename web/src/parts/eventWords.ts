import type { Event, Section } from '../api/shapes'
import { verdictOf } from '../api/verdict'
import { count, money, score } from '../format/figures'
import { auditWords, warningOf } from './auditWords'

export interface EventWords {
  color: 'green' | 'amber' | 'red' | 'gray'
  /** what happened, beside the agent */
  what: string
  /** the figure at the end of a line */
  figure: string
}

/** refusals are why a call was not forwarded. */
export const refusals: Record<string, string> = {
  kill_switch: 'blocked: stopped',
  halted: 'blocked: halted',
  manual: 'blocked: stopped by hand',
  budget_exceeded: 'over hard budget',
  outside_hours: 'outside hours',
  session_exceeded: 'session limit',
  rate_limited: 'rate limit',
  rule: 'blocked by a rule',
  loop_detected: 'loop detected',
  not_durable: 'budget could not be stored',
}

/** eventWords is an event in one line; see auditWords for the sections. */
export function eventWords(e: Event, sections: Section[]): EventWords {
  const status = e.status > 0 ? String(e.status) : ''
  switch (e.event_type) {
    case 'llm_call':
      if (e.error) return { color: 'amber', what: `${e.model} ${e.error}`, figure: status }
      if (e.status >= 400) return { color: 'amber', what: `${e.model} answered ${status}`, figure: status }
      return { color: 'green', what: e.model || e.provider, figure: money(e.cost_usd) }
    case 'pass_through':
      return { color: 'gray', what: e.path, figure: status }
    case 'blocked':
      return { color: 'red', what: refusals[e.block_reason ?? ''] ?? e.block_reason ?? 'blocked', figure: status }
    case 'kill_switch':
      return { color: e.shadow ? 'amber' : 'red', what: e.shadow ? 'would be stopped' : 'stopped', figure: e.score > 0 ? score(e.score) : status }
    case 'steer':
      return { color: 'amber', what: e.shadow ? 'would be steered' : 'steered', figure: '' }
    case 'halt':
      return { color: 'red', what: 'halted', figure: e.score > 0 ? score(e.score) : status }
    case 'warning':
      return { color: 'amber', what: warningOf(e), figure: e.score > 0 ? score(e.score) : '' }
    case 'growth':
      return { color: 'amber', what: 'prompt tokens grow', figure: '' }
    case 'policy_change':
      return { color: 'gray', what: auditWords(e, sections).what, figure: '' }
    case 'alert':
      return { color: 'gray', what: alertWords(e, sections), figure: '' }
    default:
      return { color: 'red', what: e.error || 'error', figure: status }
  }
}

// The agent stands beside it already, so that the sentence would name it twice.
function alertWords(e: Event, sections: Section[]): string {
  const budget = verdictOf(e).findings?.find((f) => f.check === 'budget')
  if (!budget) return auditWords(e, sections).what
  const limit = budget.reason === 'budget_soft' ? 'soft' : 'hard'
  const spent = budget.spent && `: ${money(budget.spent.cost_usd)} and ${count(budget.spent.tokens)} tokens are spent`
  return `has reached its ${limit} ${budget.period === 'month' ? 'monthly' : 'daily'} budget${spent ?? ''}`
}

/** typeWords are the kinds of events for a person. */
export const typeWords: Record<string, string> = {
  llm_call: 'Call',
  pass_through: 'Pass-through',
  blocked: 'Blocked',
  kill_switch: 'Kill Switch',
  halt: 'Halt',
  steer: 'Steer',
  warning: 'Warning',
  growth: 'Growth',
  policy_change: 'Policy change',
  alert: 'Alert',
  error: 'Error',
}
