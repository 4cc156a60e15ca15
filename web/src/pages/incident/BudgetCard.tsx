import { useQuery } from '@tanstack/react-query'
import { agentQuery } from '../../api/agents'
import type { IncidentDetail } from '../../api/shapes'
import { full } from '../../format/time'
import { Budgets, hasBudget } from '../../parts/Budgets'
import { ButtonLink } from '../../parts/ButtonLink'
import { Section } from '../../parts/Section'

/** BudgetCard is how the budgets stand now: whether it goes on by itself, or
 *  somebody has to raise one. */
export function BudgetCard({ incident }: { incident: IncidentDetail }) {
  const agent = useQuery(agentQuery(incident.agent)).data
  if (!agent || !hasBudget(agent)) return null
  const resets = agent.spending.filter((s) => Object.values(s.budget).some((limit) => limit > 0)).map((s) => `${s.period} starts again ${full(s.resets)}`)
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
