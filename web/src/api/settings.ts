import { queryOptions } from '@tanstack/react-query'
import { api, read } from './client'

/** settingsQuery is every setting of a policy, as haltd declares it. */
export const settingsQuery = queryOptions({
  queryKey: ['settings'],
  queryFn: async () => (await read(api.GET('/v1/settings'))).sections,
  staleTime: Infinity,
})
