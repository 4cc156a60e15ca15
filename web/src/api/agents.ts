import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, read, without } from './client'
import { pages, pageSize } from './queries'
import type { KillSwitchChange, PolicyChange } from './shapes'

export interface AgentFilter {
  search?: string
  state?: 'active' | 'stopped' | 'inactive'
  sort?: 'last_seen' | 'cost' | 'calls' | 'blocked'
}

export function agentPages(filter: AgentFilter = {}, limit = pageSize) {
  return pages(['agents', filter, limit], async (cursor) => {
    const body = await read(api.GET('/v1/agents', { params: { query: without({ ...filter, limit, cursor }) } }))
    return { rows: body.agents, next: body.next, counts: body.counts }
  })
}

/** agentsQuery is some agents by their ids, and how many there are in all. */
export function agentsQuery(ids: string[]) {
  return queryOptions({
    queryKey: ['agents', 'named', ids],
    queryFn: () => read(api.GET('/v1/agents', { params: { query: without({ id: ids.length > 0 ? ids : undefined, limit: Math.max(ids.length, 1) }) } })),
    placeholderData: keepPreviousData,
  })
}

export function agentQuery(id: string) {
  return queryOptions({
    queryKey: ['agent', id],
    queryFn: () => read(api.GET('/v1/agents/{id}', { params: { path: { id } } })),
  })
}

export interface SessionFilter {
  agent?: string
  search?: string
  state?: 'active' | 'halted' | 'stopped'
  sort?: 'last_seen' | 'cost' | 'calls'
}

export function sessionPages(filter: SessionFilter = {}, limit = pageSize) {
  return pages(['sessions', filter, limit], async (cursor) => {
    const body = await read(api.GET('/v1/sessions', { params: { query: without({ ...filter, limit, cursor }) } }))
    return { rows: body.sessions, next: body.next }
  })
}

export function sessionQuery(agent: string, session: string) {
  return queryOptions({
    queryKey: ['session', agent, session],
    queryFn: () => read(api.GET('/v1/agents/{agent}/sessions/{session}', { params: { path: { agent, session } } })),
  })
}

export interface StatsAsk {
  since: string
  until?: string
  step: string
  agent?: string
  id?: string[]
  by?: 'agent' | 'provider' | 'model'
  limit?: number
  offset?: number
  series?: boolean
}

export function statsQuery(ask: StatsAsk) {
  return queryOptions({
    queryKey: ['stats', ask],
    queryFn: () => read(api.GET('/v1/stats', { params: { query: without(ask) } })),
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  })
}

/** statsPages asks for all groups, so many at once. */
export function statsPages(ask: Omit<StatsAsk, 'limit' | 'offset'>, limit: number) {
  return infiniteQueryOptions({
    queryKey: ['stats', 'pages', ask, limit],
    queryFn: ({ pageParam: offset }) => read(api.GET('/v1/stats', { params: { query: without({ ...ask, limit, offset }) } })),
    initialPageParam: 0,
    getNextPageParam: (last, all) => {
      const so = all.reduce((n, p) => n + (p.groups ?? []).length, 0)
      return (last.groups ?? []).length > 0 && so < last.group_count ? so : undefined
    },
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  })
}

export function changePolicy(id: string, change: PolicyChange) {
  return read(api.PATCH('/v1/agents/{id}', { params: { path: { id } }, body: change }))
}

export function changeKillSwitch(id: string, change: KillSwitchChange) {
  return read(api.PATCH('/v1/agents/{id}/kill-switch', { params: { path: { id } }, body: change }))
}

export function activateAgent(id: string, graceMinutes?: number) {
  return read(api.POST('/v1/agents/{id}/activate', { params: { path: { id } }, body: { grace_minutes: graceMinutes } }))
}

export function deactivateAgent(id: string, reason: string, now: boolean) {
  return read(api.POST('/v1/agents/{id}/deactivate', { params: { path: { id } }, body: { reason: reason || undefined, now } }))
}

export function deleteAgent(id: string) {
  return read(api.DELETE('/v1/agents/{id}', { params: { path: { id } } }))
}

export function activateSession(agent: string, session: string, graceMinutes?: number) {
  return read(
    api.POST('/v1/sessions/{id}/activate', {
      params: { path: { id: session }, query: { agent } },
      body: { grace_minutes: graceMinutes },
    }),
  )
}
