import type { AgentDetail } from '../api/shapes'
import { money, short } from '../format/figures'
import { BudgetBar } from './BudgetBar'
import classes from './budget.module.css'

/** hasBudget tells whether anything limits what an agent spends. */
export const hasBudget = (agent: AgentDetail): boolean => linesOf(agent).length > 0

/** Budgets are all budgets of an agent, and how much of each is gone. */
export function Budgets({ agent }: { agent: AgentDetail }) {
  return linesOf(agent).map((l) => (
    <div key={l.name} className={classes.budget}>
      <div>
        <span>{l.name}</span>
        <span>
          <b>{l.say(l.spent)}</b> <span className="muted">of {l.say(l.hard || l.soft)}</span>
        </span>
      </div>
      <BudgetBar spent={l.spent} soft={l.soft} hard={l.hard} label={`${l.name}: ${l.say(l.spent)} of ${l.say(l.hard || l.soft)}`} height={6} />
      <div>
        <span>{l.soft > 0 ? `soft ${l.say(l.soft)}, alerts` : ''}</span>
        <span>{l.hard > 0 ? `hard ${l.say(l.hard)}, blocks` : ''}</span>
      </div>
    </div>
  ))
}

function linesOf(agent: AgentDetail) {
  return agent.spending.flatMap(({ period, budget, spent }) => {
    const name = period === 'day' ? 'Day' : 'Month'
    return [
      { name: `${name}, USD`, spent: spent.cost_usd, soft: budget.soft_usd, hard: budget.hard_usd, say: money },
      { name: `${name}, tokens`, spent: spent.tokens, soft: budget.soft_tokens, hard: budget.hard_tokens, say: short },
    ].filter((l) => l.soft > 0 || l.hard > 0)
  })
}
