import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, read } from './client'
import type { Setting } from './shapes'

/** settingsQuery is every setting of a policy, as haltd declares it. */
export const settingsQuery = queryOptions({
  queryKey: ['settings'],
  queryFn: async () => (await read(api.GET('/v1/settings'))).sections,
  staleTime: Infinity,
})

/** useAllSettings is the same without its sections; empty until it is known. */
export function useAllSettings(): Setting[] {
  return useQuery(settingsQuery).data?.flatMap((s) => s.settings) ?? []
}
