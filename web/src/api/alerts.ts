import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, read, without } from './client'
import { pages, pageSize } from './queries'
import type { AlertRuleChange, ChannelChange, Delivery, NewAlertRule, NewChannel } from './shapes'

export const alertsStatusQuery = queryOptions({
  queryKey: ['alerts', 'status'],
  queryFn: () => read(api.GET('/v1/alerts/status')),
})

export interface DeliveryFilter {
  incident?: string
  channel?: string
  status?: 'pending' | 'delivered' | 'dead' | 'dismissed'
}

async function deliveryPage(filter: DeliveryFilter, limit: number, cursor?: string) {
  const body = await read(api.GET('/v1/deliveries', { params: { query: without({ ...filter, limit, cursor }) } }))
  return { rows: body.deliveries, next: body.next }
}

/** deliveryPages asks again while something is on its way: nothing else tells
 *  that it has arrived. */
export function deliveryPages(filter: DeliveryFilter = {}, limit = pageSize) {
  return infiniteQueryOptions({
    ...pages(['deliveries', filter, limit], (cursor) => deliveryPage(filter, limit, cursor)),
    refetchInterval: ({ state }) => (state.data?.pages.some((p) => p.rows.some((d) => d.status === 'pending')) ? 2000 : false),
  })
}

export function newestDeliveries(filter: DeliveryFilter, limit: number) {
  return queryOptions({ queryKey: ['deliveries', 'newest', filter, limit], queryFn: () => deliveryPage(filter, limit) })
}

/** deadDeliveriesQuery is all that was given up and nobody has dismissed, the
 *  newest first; a thousand at most, which is as far as haltd counts them. */
export const deadDeliveriesQuery = queryOptions({
  queryKey: ['deliveries', 'dead'],
  queryFn: async () => {
    const found: Delivery[] = []
    for (let cursor: string | undefined; found.length < 1000; ) {
      const page = await deliveryPage({ status: 'dead' }, 100, cursor)
      found.push(...page.rows)
      if (!page.next) break
      cursor = page.next
    }
    return found
  },
})

export function retryDelivery(id: string) {
  return read(api.POST('/v1/deliveries/{id}/retry', { params: { path: { id } } }))
}

export function dismissDelivery(id: string) {
  return read(api.POST('/v1/deliveries/{id}/dismiss', { params: { path: { id } } }))
}

export const channelsQuery = queryOptions({
  queryKey: ['channels'],
  queryFn: async () => (await read(api.GET('/v1/channels'))).channels,
})

export function createChannel(channel: NewChannel) {
  return read(api.POST('/v1/channels', { body: channel }))
}

export function changeChannel(id: string, change: ChannelChange) {
  return read(api.PATCH('/v1/channels/{id}', { params: { path: { id } }, body: change }))
}

export function deleteChannel(id: string) {
  return read(api.DELETE('/v1/channels/{id}', { params: { path: { id } } }))
}

export function testChannel(id: string) {
  return read(api.POST('/v1/channels/{id}/test', { params: { path: { id } } }))
}

export const alertRulesQuery = queryOptions({
  queryKey: ['alert-rules'],
  queryFn: async () => (await read(api.GET('/v1/alert-rules'))).alert_rules,
})

export function createAlertRule(rule: NewAlertRule) {
  return read(api.POST('/v1/alert-rules', { body: rule }))
}

export function changeAlertRule(id: string, change: AlertRuleChange) {
  return read(api.PATCH('/v1/alert-rules/{id}', { params: { path: { id } }, body: change }))
}

export function deleteAlertRule(id: string) {
  return read(api.DELETE('/v1/alert-rules/{id}', { params: { path: { id } } }))
}
