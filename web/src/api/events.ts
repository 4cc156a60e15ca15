import { type QueryFilters, queryOptions } from '@tanstack/react-query'
import { api, read, without } from './client'
import { pages, pageSize } from './queries'
import type { Event, Incident } from './shapes'

export interface EventFilter {
  agent?: string
  session?: string
  model?: string
  provider?: string
  type?: string[]
  blocked?: 'true' | 'false'
  since?: string
  until?: string
}

export function eventPages(filter: EventFilter = {}, limit = pageSize) {
  return pages(['events', filter, limit], (cursor) => eventPage(filter, limit, cursor))
}

async function eventPage(filter: EventFilter, limit: number, cursor?: string) {
  const body = await read(api.GET('/v1/events', { params: { query: without({ ...filter, limit, cursor }) } }))
  return { rows: body.events, next: body.next }
}

/** newestEvents is one page, for cards that show no more. */
export function newestEvents(filter: EventFilter, limit: number) {
  return queryOptions({ queryKey: ['events', 'newest', filter, limit], queryFn: () => eventPage(filter, limit) })
}

/** feedSize is how many events the first page shows: more than their card is
 *  high, so that it scrolls. */
export const feedSize = 32

/** feedQuery is the newest events of all agents. */
export const feedQuery = newestEvents({}, feedSize)

export function isCall(event: Event): boolean {
  return event.event_type === 'llm_call' || event.event_type === 'blocked'
}

/** calledQuery tells whether an agent has ever called. The newest events, which
 *  the first page shows, mostly tell it, and nothing more is asked for. */
export const calledQuery = queryOptions({
  queryKey: ['events', 'called'],
  queryFn: async ({ client }) => {
    const newest = await client.fetchQuery(feedQuery)
    return newest.rows.some((e) => isCall(e) || e.model) || (await eventPage({ type: ['llm_call', 'blocked'] }, 1)).rows.length > 0
  },
})

/** newestOf are the cards that a new event of an agent makes stale: those that
 *  show it, but for the ones whose time is over. */
export function newestOf(agent: string): QueryFilters {
  return {
    queryKey: ['events', 'newest', { agent }],
    predicate: ({ queryKey }) => (queryKey[2] as EventFilter).until === undefined,
  }
}

/** triesQuery is what was blocked of an agent or a session since it was
 *  stopped, the newest first. Every page counts it so: up to a thousand. */
export function triesQuery(stopped: { agent: string; session?: string; since?: string; until?: string }) {
  return newestEvents({ ...stopped, type: ['blocked'] }, 1000)
}

/** triesSince are those since an incident, up to its decision. */
export function triesSince({ agent, session, scope, time, closed_at }: Incident) {
  return triesQuery({ agent, session: scope === 'session' ? session : undefined, since: time, until: closed_at ?? undefined })
}

/** longest is how many calls of one session the dashboard numbers. */
export const longest = 5000

/** sessionCalls are the calls of a session, oldest first; whole is false for
 *  a session that is longer than the dashboard reads. */
export function sessionCalls(agent: string, session: string, until?: string) {
  return queryOptions({
    queryKey: ['calls', agent, session, until],
    queryFn: async () => {
      const calls: Event[] = []
      let cursor: string | undefined
      do {
        const page = await eventPage({ agent, session, until, type: ['llm_call', 'blocked', 'kill_switch', 'halt'] }, 1000, cursor)
        calls.push(...page.rows)
        cursor = page.next ?? undefined
      } while (cursor && calls.length < longest)
      return { calls: calls.reverse(), whole: !cursor }
    },
  })
}

export function eventQuery(id: string) {
  return queryOptions({
    queryKey: ['event', id],
    queryFn: () => read(api.GET('/v1/events/{id}', { params: { path: { id } } })),
  })
}

/** exportAddress is where the events that are selected download from. */
export function exportAddress(filter: EventFilter, format: 'jsonl' | 'csv'): string {
  const query = new URLSearchParams({ format })
  for (const [name, value] of Object.entries(without(filter))) query.set(name, String(value))
  return `/v1/events/export?${query}`
}
