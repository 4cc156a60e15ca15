import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, read } from './client'
import type { Section, Setting } from './shapes'

/** settingsQuery is every setting of a policy, as haltd declares it. */
export const settingsQuery = queryOptions({
  queryKey: ['settings'],
  queryFn: async () => (await read(api.GET('/v1/settings'))).sections,
  staleTime: Infinity,
})

/** useSections is the same; empty until it is known. */
export function useSections(): Section[] {
  return useQuery(settingsQuery).data ?? none
}

const none: Section[] = []

/** useAllSettings is the same without its sections. */
export function useAllSettings(): Setting[] {
  return useSections().flatMap((s) => s.settings)
}
