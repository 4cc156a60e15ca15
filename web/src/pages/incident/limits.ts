import type { IncidentDetail, Policy, Verdict } from '../../api/shapes'
import { valueOf } from '../../parts/settings'

/** Limit is a setting that an incident is about: a budget, or how much one
 *  session may use. */
export interface Limit {
  path: string
  label: string
  money: boolean
}

const sessionWords: Record<string, string> = {
  'session.calls': 'Calls per session',
  'session.usd': 'USD per session',
  'session.tokens': 'Tokens per session',
  'session.minutes': 'Minutes per session',
  'session.turn.calls': 'Calls per turn',
  'session.turn.usd': 'USD per turn',
}

/** limitsOf are the limits whose reaching raised an incident, as far as the
 *  policy sets them. */
export function limitsOf(incident: IncidentDetail, verdict: Verdict, policy: Policy): Limit[] {
  const found = verdict.findings?.find((f) => f.check === 'budget' || f.check === 'session')
  let limits: Limit[] = []
  if (incident.kind === 'session_limit') {
    const path = found?.name ?? ''
    if (sessionWords[path]) limits = [{ path, label: sessionWords[path], money: path.endsWith('usd') }]
  } else if (incident.kind.startsWith('budget')) {
    const period = found?.name === 'month' ? 'month' : 'day'
    const hard = incident.kind === 'budget_hard' ? 'hard' : 'soft'
    const name = `${hard === 'hard' ? 'Hard' : 'Soft'} ${period === 'day' ? 'daily' : 'monthly'} budget`
    limits = [
      { path: `budgets.${period}.${hard}_usd`, label: `${name}, USD`, money: true },
      { path: `budgets.${period}.${hard}_tokens`, label: `${name}, tokens`, money: false },
    ]
  }
  return limits.filter((l) => Number(valueOf(policy, l.path)) > 0)
}
