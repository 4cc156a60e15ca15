import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, read, without } from './client'
import { pages, pageSize } from './queries'

export interface IncidentFilter {
  agent?: string
  session?: string
  kind?: 'kill_switch' | 'growth' | 'budget_soft' | 'budget_hard' | 'session_limit' | 'steer'
  status?: 'open' | 'resumed' | 'continued' | 'recovered' | 'unmoved' | 'kept' | 'false_positive'
  shadow?: 'true' | 'false'
  since?: string
}

async function page(filter: IncidentFilter, limit: number, cursor?: string) {
  const body = await read(api.GET('/v1/incidents', { params: { query: without({ ...filter, limit, cursor }) } }))
  return { rows: body.incidents, next: body.next }
}

export function incidentPages(filter: IncidentFilter = {}, limit = pageSize) {
  return pages(['incidents', filter, limit], (cursor) => page(filter, limit, cursor))
}

/** newestIncidents is one page, for cards and counts. */
export function newestIncidents(filter: IncidentFilter, limit: number) {
  return queryOptions({ queryKey: ['incidents', 'newest', filter, limit], queryFn: () => page(filter, limit) })
}

export function incidentQuery(id: string) {
  return queryOptions({
    queryKey: ['incident', id],
    queryFn: () => read(api.GET('/v1/incidents/{id}', { params: { path: { id } } })),
  })
}

/** incidentExcerptQuery is what was said in the rounds that prove an incident. */
export function incidentExcerptQuery(id: string) {
  return queryOptions({
    queryKey: ['incident', id, 'excerpt'],
    queryFn: async () => (await read(api.GET('/v1/incidents/{id}/excerpt', { params: { path: { id } } }))).excerpt ?? null,
    staleTime: 60_000,
  })
}

export function whatIfQuery(id: string, threshold: number) {
  return queryOptions({
    queryKey: ['what-if', id, threshold],
    queryFn: () => read(api.GET('/v1/incidents/{id}/what-if', { params: { path: { id }, query: { threshold } } })),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  })
}

export interface Decision {
  status: 'open' | 'resumed' | 'kept' | 'false_positive'
  /** what the reader saw: somebody else may have decided since */
  expect?: IncidentFilter['status']
  note?: string
  resume?: boolean
  grace_minutes?: number
}

export function decide(id: string, decision: Decision) {
  return read(api.POST('/v1/incidents/{id}/feedback', { params: { path: { id } }, body: decision }))
}
