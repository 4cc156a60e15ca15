import type { AgentDetail, Session } from '../api/shapes'
import { count, money } from '../format/figures'

/** usedOf is what a session has used of each limit that is set. */
export function usedOf(session: Session, limits: AgentDetail['policy']['session']): { name: string; says: string; reached: boolean }[] {
  const t = session.totals
  const minutes = Math.floor((new Date(session.last_seen).getTime() - new Date(session.first_seen).getTime()) / 60_000)
  return [
    { name: 'Calls', used: t.calls - t.blocked, limit: limits.calls, word: count },
    { name: 'Cost', used: t.cost_usd, limit: limits.usd, word: money },
    { name: 'Tokens', used: t.tokens.input + t.tokens.output, limit: limits.tokens, word: count },
    { name: 'Minutes', used: minutes, limit: limits.minutes, word: count },
  ]
    .filter((u) => u.limit > 0)
    .map((u) => ({ name: u.name, says: `${u.word(u.used)} of ${u.word(u.limit)}`, reached: u.used >= u.limit }))
}
