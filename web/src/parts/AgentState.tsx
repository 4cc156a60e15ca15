import { Badge } from '@mantine/core'
import type { Agent, AgentDetail, Session, Standing } from '../api/shapes'
import { type AgentState, stateOf } from './agentState'

/** AgentBadge says in a word whether an agent may call. */
export function AgentBadge({ agent, size }: { agent: Agent | AgentDetail; size?: 'md' | 'lg' }) {
  const { word, color } = stateOf(agent)
  return <StateBadge word={word} color={color} large={size === 'lg'} />
}

/** SessionBadge says whether calls of a session pass: it may be active while its
 *  agent is not. */
export function SessionBadge({ session }: { session: Session }) {
  if (session.standing.active && session.agent_inactive) return <StateBadge word="Agent stopped" color="red" />
  return <StandingBadge standing={session.standing} />
}

/** StandingBadge is that of a session by itself. */
export function StandingBadge({ standing }: { standing: Standing }) {
  if (standing.active) return <StateBadge word="Active" color="green" />
  if (standing.deactivated_by === 'halt') return <StateBadge word="Halted until a person writes" color="amber" />
  return standing.deactivated_by === 'kill_switch' ? (
    <StateBadge word="Deactivated by Kill Switch" color="red" />
  ) : (
    <StateBadge word="Inactive" color="gray" />
  )
}

function StateBadge({ word, color, large }: { word: string; color: AgentState['color']; large?: boolean }) {
  return (
    <Badge color={color} h={large ? 24 : 20} miw="max-content">
      {word}
    </Badge>
  )
}
