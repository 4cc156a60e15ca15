import { queryOptions } from '@tanstack/react-query'
import { api, read, without } from './client'
import { pages } from './queries'

/** Proof is what somebody signs in with. */
export type Proof = { name: string; password: string } | { token: string } | { code: string }

export function signIn(proof: Proof) {
  return read(api.POST('/v1/sign-in', { body: proof }))
}

export function signOut() {
  return read(api.POST('/v1/sign-out'))
}

export const statusQuery = queryOptions({
  queryKey: ['status'],
  queryFn: () => read(api.GET('/v1/status')),
  refetchInterval: 30_000,
})

/** meQuery is who is signed in; it is part of the status, which every page asks for. */
export const meQuery = queryOptions({ ...statusQuery, select: ({ actor, role }) => ({ actor, role }) })

/** blockStatusQuery is the status with which stopped agents are answered. */
export const blockStatusQuery = queryOptions({ ...statusQuery, select: (status) => status.block_status })

/** bypassQuery is part of the status as well. */
export const bypassQuery = queryOptions({ ...statusQuery, select: (status) => status.bypass })

export function setBypass(on: boolean, reason: string) {
  return read(api.PUT('/v1/bypass', { body: { on, reason: reason || undefined } }))
}

export const keysQuery = queryOptions({
  queryKey: ['keys'],
  queryFn: async () => (await read(api.GET('/v1/keys'))).keys,
})

export type NewKey = { agent: string; name?: string; expires_at?: string; models?: string[]; budget_day_usd?: number; budget_month_usd?: number }

export function createKey(key: NewKey) {
  return read(api.POST('/v1/keys', { body: key }))
}

export type KeyChange = { name?: string; expires_at?: string | null; models?: string[]; budget_day_usd?: number; budget_month_usd?: number }

export function changeKey(id: string, change: KeyChange) {
  return read(api.PATCH('/v1/keys/{id}', { params: { path: { id } }, body: change }))
}

export function revokeKey(id: string) {
  return read(api.DELETE('/v1/keys/{id}', { params: { path: { id } } }))
}

/** auditPages are changes that somebody made, the newest first. */
export function auditPages(limit: number) {
  return pages(['audit', limit], async (cursor) => {
    const body = await read(api.GET('/v1/audit', { params: { query: without({ limit, cursor }) } }))
    return { rows: body.entries, next: body.next }
  })
}

export const tokensQuery = queryOptions({
  queryKey: ['tokens'],
  queryFn: async () => (await read(api.GET('/v1/tokens'))).tokens,
})

export type Role = 'viewer' | 'operator' | 'admin'

export function createToken(name: string, role: Role, expires: string | undefined) {
  return read(api.POST('/v1/tokens', { body: { name, role, expires_at: expires } }))
}

export function revokeToken(id: string) {
  return read(api.DELETE('/v1/tokens/{id}', { params: { path: { id } } }))
}

/** configQuery is the configuration in force, as YAML. */
export const configQuery = queryOptions({
  queryKey: ['config'],
  queryFn: () => read(api.GET('/v1/config', { parseAs: 'text' })) as Promise<string>,
})
