import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, read, without } from './client'
import { pages, pageSize } from './queries'

export interface IncidentFilter {
  agent?: string
  /** part of the agent's name or of the incident's id */
  search?: string
  session?: string
  detector?: 'stall' | 'similarity' | 'growth' | 'exact'
  stops?: 'true' | 'false'
  kind?: 'kill_switch' | 'growth' | 'budget_soft' | 'budget_hard' | 'session_limit' | 'steer'
  status?: 'open' | 'resumed' | 'continued' | 'recovered' | 'unmoved' | 'kept' | 'false_positive'
  shadow?: 'true' | 'false'
  since?: string
}

export type IncidentSort = 'newest' | 'stops' | 'cost'

async function page(filter: IncidentFilter, limit: number, sort: IncidentSort, cursor?: string) {
  const body = await read(api.GET('/v1/incidents', { params: { query: without({ ...filter, limit, sort, cursor }) } }))
  return { rows: body.incidents, next: body.next }
}

export function incidentPages(filter: IncidentFilter = {}, sort: IncidentSort = 'newest', limit = pageSize) {
  return pages(['incidents', filter, sort, limit], (cursor) => page(filter, limit, sort, cursor))
}

/** newestIncidents is one page, for cards. */
export function newestIncidents(filter: IncidentFilter, limit: number, sort: IncidentSort = 'newest') {
  return queryOptions({ queryKey: ['incidents', 'newest', filter, limit, sort], queryFn: () => page(filter, limit, sort) })
}

/** incidentCounts counts all incidents that a filter selects. */
export function incidentCounts(filter: IncidentFilter = {}) {
  return queryOptions({
    queryKey: ['incidents', 'counts', filter],
    queryFn: () => read(api.GET('/v1/incidents/counts', { params: { query: without(filter) } })),
    placeholderData: keepPreviousData,
  })
}

/** savingsQuery is what was stopped in a time, and what that saved. */
export function savingsQuery(since: string) {
  return queryOptions({
    queryKey: ['incidents', 'savings', since],
    queryFn: () => read(api.GET('/v1/savings', { params: { query: { since } } })),
    placeholderData: keepPreviousData,
  })
}

/** remark acknowledges an incident, comments on it, or both. */
export function remark(id: string, said: { acknowledge?: boolean; text?: string }) {
  return read(api.POST('/v1/incidents/{id}/remarks', { params: { path: { id } }, body: said }))
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
