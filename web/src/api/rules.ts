import { queryOptions } from '@tanstack/react-query'
import { api, read } from './client'
import type { NewRule, RuleChange } from './shapes'

export const rulesQuery = queryOptions({
  queryKey: ['rules'],
  queryFn: async () => (await read(api.GET('/v1/rules'))).rules,
})

export function createRule(rule: NewRule) {
  return read(api.POST('/v1/rules', { body: rule }))
}

export function changeRule(id: string, change: RuleChange) {
  return read(api.PATCH('/v1/rules/{id}', { params: { path: { id } }, body: change }))
}

export function deleteRule(id: string) {
  return read(api.DELETE('/v1/rules/{id}', { params: { path: { id } } }))
}
