import type { Agent, AgentDetail } from '../api/shapes'
import { isAllowedAt } from '../pages/agent/week'

export interface AgentState {
  word: string
  color: 'green' | 'accent' | 'amber' | 'gray' | 'red'
}

/** stateOf is the state of an agent in the words of the product. Listings
 *  do not say what was spent: there no agent is over budget. */
export function stateOf(agent: Agent | AgentDetail, now = new Date()): AgentState {
  if (!agent.active) {
    return agent.deactivated_by === 'kill_switch'
      ? { word: 'Deactivated by Kill Switch', color: 'red' }
      : { word: 'Inactive', color: 'gray' }
  }
  if ('spending' in agent && agent.spending.some(isSpent)) return { word: 'Over budget', color: 'amber' }
  if (!isAllowedAt(agent.policy.allowed_hours, agent.policy.time_zone, now)) return { word: 'Outside hours', color: 'amber' }
  const grace = agent.standing.grace_until ? new Date(agent.standing.grace_until).getTime() - now.getTime() : 0
  if (grace > 0) return { word: `Grace, ${Math.ceil(grace / 60_000)} min left`, color: 'accent' }
  if (!agent.policy.kill_switch.enabled) return { word: 'Shadow', color: 'accent' }
  return { word: 'Active', color: 'green' }
}

function isSpent(s: AgentDetail['spending'][number]): boolean {
  const { budget, spent } = s
  return (budget.hard_usd > 0 && spent.cost_usd >= budget.hard_usd) || (budget.hard_tokens > 0 && spent.tokens >= budget.hard_tokens)
}
