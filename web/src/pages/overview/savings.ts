import { useQueries, useQuery } from '@tanstack/react-query'
import { incidentQuery, newestIncidents } from '../../api/incidents'
import type { Span } from './span'

const most = 20

export interface Savings {
  usd: number
  /** kills in the time, of which more says that there were further ones */
  kills: number
  more: boolean
  /** kills for which a hard budget makes an estimate possible */
  counted: number
}

/** useSavings adds up what the kills of a time have saved. Each incident
 *  carries its own estimate; at most 20 are asked. */
export function useSavings(span: Span): Savings | undefined {
  const list = useQuery(newestIncidents({ kind: 'kill_switch', shadow: 'false', since: span }, most))
  const kills = (list.data?.rows ?? []).filter((i) => i.action === 'kill')
  const estimates = useQueries({
    queries: kills.map((i) => ({ ...incidentQuery(i.id), select: (d: { money: { saved_usd: number | null } }) => d.money.saved_usd })),
  })
  if (!list.data || estimates.some((e) => e.isPending)) return undefined
  const known = estimates.map((e) => e.data).filter((usd): usd is number => typeof usd === 'number')
  return { usd: known.reduce((a, b) => a + b, 0), kills: kills.length, more: list.data.next !== null, counted: known.length }
}
