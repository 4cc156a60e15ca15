import type { IncidentDetail, Policy, Setting, Verdict } from '../../api/shapes'
import { valueOf } from '../../parts/settings'

/** Limit is a setting that an incident is about: a budget, or how much one
 *  session may use. */
export interface Limit {
  path: string
  label: string
  money: boolean
}

/** limitsOf are the limits whose reaching raised an incident, as far as the
 *  policy sets them. Those of a session have the words of their settings. */
export function limitsOf(incident: IncidentDetail, verdict: Verdict, policy: Policy, settings: Setting[]): Limit[] {
  const found = verdict.findings?.find((f) => f.check === (incident.kind === 'session_limit' ? 'session' : 'budget'))
  let limits: Limit[] = []
  if (incident.kind === 'session_limit') {
    limits = settings.filter((s) => s.path === found?.name).map((s) => ({ path: s.path, label: s.label, money: s.type === 'money' }))
  } else if (incident.kind.startsWith('budget')) {
    const period = found?.period === 'month' ? 'month' : 'day'
    const hard = incident.kind === 'budget_hard' ? 'hard' : 'soft'
    const name = `${hard === 'hard' ? 'Hard' : 'Soft'} ${period === 'day' ? 'daily' : 'monthly'} budget`
    limits = [
      { path: `budgets.${period}.${hard}_usd`, label: `${name}, USD`, money: true },
      { path: `budgets.${period}.${hard}_tokens`, label: `${name}, tokens`, money: false },
    ]
  }
  return limits.filter((l) => Number(valueOf(policy, l.path)) > 0)
}
