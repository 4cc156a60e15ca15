import type { QueryClient } from '@tanstack/react-query'
import { agentsQuery, statsQuery } from '../../api/agents'
import { calledQuery } from '../../api/events'
import { incidentCounts, newestIncidents, savingsQuery } from '../../api/incidents'
import type { Stats } from '../../api/shapes'
import { rungsQuery } from './RungsCard'
import { sinceOf, type Span, spanOf, spans } from './span'

/** top is how many agents the page shows. */
export const top = 6

export const overviewStats = (span: Span) => statsQuery({ since: sinceOf(span), step: spans[span].step, by: 'agent', limit: top, series: true })
export const topAgents = (stats: Stats | undefined) => agentsQuery((stats?.groups ?? []).map((g) => g.name))
export const openIncidents = newestIncidents({ status: 'open' }, 5, 'stops')

/** askFor asks for all that the page shows before it is drawn, and waits for
 *  whether an agent has ever called. */
export function askFor(queries: QueryClient, asked: string | undefined): Promise<void> {
  const span = spanOf(asked)
  queries.fetchQuery(overviewStats(span)).then(
    (stats) => queries.prefetchQuery(topAgents(stats)),
    () => undefined, // the page tells
  )
  void queries.prefetchQuery(savingsQuery(sinceOf(span)))
  void queries.prefetchQuery(openIncidents)
  void queries.prefetchQuery(incidentCounts({ status: 'open' }))
  void queries.prefetchQuery(rungsQuery(span, 'false'))
  void queries.prefetchQuery(rungsQuery(span, 'true'))
  return queries.prefetchQuery(calledQuery)
}
