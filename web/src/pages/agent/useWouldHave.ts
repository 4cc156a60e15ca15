import { useQuery } from '@tanstack/react-query'
import { api, read } from '../../api/client'
import type { AgentDetail } from '../../api/shapes'
import { times } from '../../format/figures'

/** useWouldHave is, while the switch is off, what each rung of the ladder would
 *  have done in the last days. */
export function useWouldHave(agent: AgentDetail): Record<string, string> | undefined {
  const off = !agent.policy.kill_switch.enabled
  const n = useQuery({
    queryKey: ['stats', 'rungs', 'shadow', agent.id],
    queryFn: () => read(api.GET('/v1/stats/rungs', { params: { query: { agent: agent.id, since: '7d', shadow: 'true' } } })),
    enabled: off,
    staleTime: 30_000,
  }).data
  if (!off || !n) return undefined
  const says = (past: string, sessions: number) => (sessions > 0 ? `Would have ${past} ${times(sessions, 'session')} in the last 7 days.` : '')
  return { steer: says('steered', n.steered), reject: says('rejected', n.rejected), halt: says('halted', n.halted), kill: says('stopped', n.killed) }
}
