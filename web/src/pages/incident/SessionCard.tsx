import { useQuery } from '@tanstack/react-query'
import { agentQuery, sessionQuery } from '../../api/agents'
import { useAllSettings } from '../../api/settings'
import type { IncidentDetail, Verdict } from '../../api/shapes'
import { Box, Code } from '@mantine/core'
import { count, money } from '../../format/figures'
import { ButtonLink } from '../../parts/ButtonLink'
import { Pair, Pairs } from '../../parts/Facts'
import { Section } from '../../parts/Section'
import { SessionUse } from '../../parts/SessionUse'
import { valueOf } from '../../parts/settings'
import { LastCalls } from './LastCalls'
import { limitsOf } from './limits'
import { named, refused, type Scene } from './scene'

/** LimitEvidence is which limit the session reached, and with which calls. */
export function LimitEvidence({ incident, verdict, scene }: { incident: IncidentDetail; verdict: Verdict; scene: Scene | undefined }) {
  const limit = limitsOf(incident, verdict, incident.settings, useAllSettings())[0]
  const at = Number(limit && valueOf(incident.settings, limit.path))
  return (
    <Section title="Evidence" aside={limit && <Code fz={12}>{limit.path}</Code>}>
      <Box maw={480}>
        <Pairs>
          {limit && <Pair name={`${limit.label}, at most`}>{limit.money ? money(at) : count(at)}</Pair>}
          <Pair name="Result">{refused(scene) ? `haltd refused call ${named(scene!.entries.at(-1)!)}` : 'haltd refused the call'}</Pair>
        </Pairs>
      </Box>
      <LastCalls incident={incident} scene={scene} />
    </Section>
  )
}

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
