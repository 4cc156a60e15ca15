import { Box } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { agentQuery } from '../../api/agents'
import type { IncidentDetail, Verdict } from '../../api/shapes'
import { count, money } from '../../format/figures'
import { full } from '../../format/time'
import { Budgets, hasBudget } from '../../parts/Budgets'
import { ButtonLink } from '../../parts/ButtonLink'
import { Pair, Pairs } from '../../parts/Facts'
import { Section } from '../../parts/Section'
import { LastCalls } from './LastCalls'
import { refused, type Scene } from './scene'

/** SpendEvidence is what had been spent when the budget was reached, or what was
 *  left of it when a call asked for more. */
export function SpendEvidence({ incident, verdict, scene }: { incident: IncidentDetail; verdict: Verdict; scene: Scene | undefined }) {
  const found = verdict.findings?.find((f) => f.check === 'budget')
  if (!found) return null
  const budget = found.period === 'month' ? incident.settings.budgets.month : incident.settings.budgets.day
  const [usd, tokens] = incident.kind === 'budget_hard' ? [budget.hard_usd, budget.hard_tokens] : [budget.soft_usd, budget.soft_tokens]
  return (
    <Section title="Evidence" aside={`the ${incident.kind === 'budget_hard' ? 'hard' : 'soft'} budget of the ${found.period === 'month' ? 'month' : 'day'}`}>
      <Box maw={480}>
        <Pairs>
          {(usd ?? 0) > 0 && <Pair name="Budget">{money(usd!)}</Pair>}
          {(tokens ?? 0) > 0 && <Pair name="Budget in tokens">{count(tokens!)}</Pair>}
          {found.spent && <Pair name="Spent at the time">{amountOf(found.spent)}</Pair>}
          {found.left && <Pair name="Left at the time">{amountOf(found.left)}</Pair>}
          {found.asked && <Pair name="The call asked for">{amountOf(found.asked)}</Pair>}
          <Pair name="Result">{resultOf(incident, refused(scene))}</Pair>
        </Pairs>
      </Box>
      <LastCalls incident={incident} scene={scene} />
    </Section>
  )
}

// A call that takes the last of a budget is answered; the next is refused.
function resultOf(incident: IncidentDetail, refused: boolean): string {
  if (incident.action === 'warn') return 'haltd sent an alert and blocked nothing'
  return refused ? 'haltd refused the call' : 'haltd refuses the calls after it'
}

function amountOf(s: { cost_usd: number; tokens: number }): string {
  return `${money(s.cost_usd)}, ${count(s.tokens)} tokens`
}

/** BudgetCard is how the budgets stand now: whether it goes on by itself, or
 *  somebody has to raise one. */
export function BudgetCard({ incident }: { incident: IncidentDetail }) {
  const agent = useQuery(agentQuery(incident.agent)).data
  if (!agent || !hasBudget(agent)) return null
  const resets = agent.spending.filter((s) => Object.values(s.budget).some((limit) => limit > 0)).map((s) => `${s.period} resets ${full(s.resets)}`)
  return (
    <Section
      title="Budgets now"
      aside={resets.join(', ')}
      actions={
        <ButtonLink to="/agents/$id" params={{ id: incident.agent }} size="xs">
          Change in the policy
        </ButtonLink>
      }
    >
      <Budgets agent={agent} />
    </Section>
  )
}
