import { Button, Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { channelsQuery, deadDeliveriesQuery, dismissDelivery, retryDelivery } from '../../api/alerts'
import type { Channel, Delivery } from '../../api/shapes'
import { times } from '../../format/figures'
import { brief } from '../../format/time'
import { done } from '../../parts/notify'
import { useChange } from '../../parts/useChange'
import { Banner } from '../../shell/Banners'
import { type Problem, problemsOf } from './problemsOf'

/** Problems is one banner for each channel that notices did not reach, with what
 *  it answered and the ways out. */
export function Problems() {
  const dead = useQuery(deadDeliveriesQuery).data ?? []
  const channels = useQuery(channelsQuery).data
  if (!channels) return null
  return problemsOf(dead).map((p) => <One key={p.channel} problem={p} channel={channels.find((c) => c.id === p.channel)} />)
}

function One({ problem, channel }: { problem: Problem; channel: Channel | undefined }) {
  const { busy, change } = useChange()
  const { deliveries } = problem
  const n = deliveries.length
  const all = async (otherwise: string, what: (id: string) => Promise<unknown>, said: string) => {
    let made = 0
    await change(otherwise, async () => {
      for (const d of deliveries) {
        await what(d.id)
        made++
      }
    })
    if (made > 0) done(`${made} of ${n} ${said}`)
  }
  return (
    <Banner
      color="red"
      action={
        <Group gap="xs" justify="flex-end">
          {channel?.enabled && (
            <Button loading={busy} onClick={() => void all('Not all were retried.', retryDelivery, 'are on their way again.')}>
              Retry all {n}
            </Button>
          )}
          <Button loading={busy} variant="subtle" onClick={() => void all('Not all were dismissed.', dismissDelivery, 'were dismissed.')}>
            Dismiss all {n}
          </Button>
        </Group>
      }
    >
      <b>
        {times(n, 'notice')} never reached {channel?.name ?? 'a channel that is deleted'}.
      </b>{' '}
      {why(deliveries[0]!)} {wayOut(channel)}
    </Banner>
  )
}

function why(newest: Delivery): string {
  const answer = newest.answers?.[0]
  return `The last was given up ${brief(newest.updated_at)}${answer ? `: ${answer}` : ''}.`
}

function wayOut(channel: Channel | undefined): string {
  if (!channel) return 'Nothing can be sent there any more: dismiss them.'
  if (!channel.enabled) return `The channel is off${channel.disabled ? ` (${channel.disabled})` : ''}: switch it on to retry, or dismiss them.`
  return 'Fix the channel, press Test, then retry; or dismiss them.'
}
