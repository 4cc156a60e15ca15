import { Button, Group, SegmentedControl, Table, Text } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { channelsQuery, type DeliveryFilter, deliveryPages, dismissDelivery, retryDelivery } from '../../api/alerts'
import type { Delivery } from '../../api/shapes'
import { brief, zone } from '../../format/time'
import { DeliveryState } from '../../parts/DeliveryState'
import { Empty } from '../../parts/Empty'
import { AgentLink, IncidentLink } from '../../parts/links'
import { Loaded } from '../../parts/Loaded'
import { More } from '../../parts/More'
import { done } from '../../parts/notify'
import { Section } from '../../parts/Section'
import { useChange } from '../../parts/useChange'
import { actions, WideTable } from '../../parts/WideTable'

/** DeliveryHistory is every notice on its way to every channel. */
export function DeliveryHistory() {
  const status = useSearch({ from: '/shell/alerts' }).status ?? 'all'
  const navigate = useNavigate()
  const query = useInfiniteQuery(deliveryPages({ status: status === 'all' ? undefined : (status as DeliveryFilter['status']) }))
  return (
    <Section
      title="Deliveries"
      actions={
        <SegmentedControl
          aria-label="Status"
          size="xs"
          value={status}
          onChange={(v) => void navigate({ to: '/alerts', search: { status: v === 'all' ? undefined : v }, replace: true, resetScroll: false })}
          data={[
            { value: 'all', label: 'All' },
            { value: 'pending', label: 'On their way' },
            { value: 'delivered', label: 'Delivered' },
            { value: 'dead', label: 'Given up' },
            { value: 'dismissed', label: 'Dismissed' },
          ]}
        />
      }
    >
      <Loaded query={query} thing="deliveries">
        {(data) => {
          const rows = data.pages.flatMap((p) => p.rows)
          if (rows.length === 0) return <Empty title={status === 'all' ? 'Nothing has been sent' : 'None'} />
          return (
            <WideTable columns={[`Time, ${zone()}`, 'Channel', 'Notice', 'Incident', 'State', actions]} minWidth={720}>
              {rows.map((d) => (
                <Row key={d.id} delivery={d} />
              ))}
            </WideTable>
          )
        }}
      </Loaded>
      <More query={query} />
    </Section>
  )
}

function Row({ delivery: d }: { delivery: Delivery }) {
  const { busy, change } = useChange()
  const channels = useQuery(channelsQuery).data
  const channel = channels?.find((c) => c.id === d.channel)
  const retry = async () => {
    if (await change('Not retried.', () => retryDelivery(d.id))) done('It is on its way again.')
  }
  const dismiss = async () => {
    if (await change('Not dismissed.', () => dismissDelivery(d.id))) done('Dismissed.')
  }
  return (
    <Table.Tr>
      <Table.Td c="dimmed" style={{ whiteSpace: 'nowrap' }}>
        {brief(d.notice.time)}
      </Table.Td>
      <Table.Td maw={160} className="clip">
        {channel?.name ?? (channels ? `${d.channel} (deleted)` : d.channel)}
      </Table.Td>
      <Table.Td maw={360}>
        <Text size="sm" lineClamp={2} style={{ overflowWrap: 'anywhere' }}>
          {d.notice.sentence}
        </Text>
        <AgentLink id={d.notice.agent} />
      </Table.Td>
      <Table.Td>{d.notice.incident && <IncidentLink id={d.notice.incident} />}</Table.Td>
      <Table.Td maw={280}>
        <DeliveryState delivery={d} />
        {d.status !== 'delivered' && d.answers && (
          <Text size="xs" c="dimmed" lineClamp={2} style={{ overflowWrap: 'anywhere' }}>
            {d.answers.join(' ')}
          </Text>
        )}
      </Table.Td>
      <Table.Td ta="right">
        {d.status === 'dead' && (
          <Group gap="xs" justify="flex-end" wrap="nowrap">
            {channel !== undefined && (
              <Button loading={busy} onClick={retry}>
                Retry
              </Button>
            )}
            <Button loading={busy} variant="subtle" onClick={dismiss}>
              Dismiss
            </Button>
          </Group>
        )}
      </Table.Td>
    </Table.Tr>
  )
}
