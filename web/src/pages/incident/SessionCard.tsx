import { useQuery } from '@tanstack/react-query'
import { agentQuery, sessionQuery } from '../../api/agents'
import type { IncidentDetail } from '../../api/shapes'
import { ButtonLink } from '../../parts/ButtonLink'
import { Section } from '../../parts/Section'
import { SessionUse } from '../../parts/SessionUse'

/** SessionCard is what the session has used of its limits now. */
export function SessionCard({ incident }: { incident: IncidentDetail }) {
  const agent = useQuery(agentQuery(incident.agent)).data
  const session = useQuery(sessionQuery(incident.agent, incident.session)).data
  if (!agent || !session) return null
  return (
    <Section
      title="Session limits now"
      actions={
        <ButtonLink to="/agents/$id" params={{ id: incident.agent }} size="xs">
          Change in the policy
        </ButtonLink>
      }
    >
      <SessionUse session={session} limits={agent.policy.session} />
    </Section>
  )
}
