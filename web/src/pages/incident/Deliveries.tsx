import { Button, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { alertsStatusQuery, channelsQuery, dismissDelivery, newestDeliveries, retryDelivery } from '../../api/alerts'
import type { Delivery, IncidentDetail } from '../../api/shapes'
import { DeliveryState } from '../../parts/DeliveryState'
import { Loaded } from '../../parts/Loaded'
import { Section } from '../../parts/Section'
import { useChange } from '../../parts/useChange'

/** Deliveries is who has been told. */
export function Deliveries({ incident }: { incident: IncidentDetail }) {
  const query = useQuery(newestDeliveries({ incident: incident.id }, 20))
  const rows = query.data?.rows ?? []
  const delivered = rows.filter((d) => d.status === 'delivered').length
  return (
    <Section title="Deliveries" actions={rows.length > 0 && <Text size="xs" c="dimmed">{delivered} of {rows.length} delivered</Text>}>
      <Loaded query={query} thing="deliveries">
        {(page) => (page.rows.length === 0 ? <None /> : page.rows.map((d) => <Row key={d.id} delivery={d} />))}
      </Loaded>
    </Section>
  )
}

function None() {
  const status = useQuery(alertsStatusQuery).data
  return (
    <Text size="sm" c="dimmed">
      Nothing has been sent. {status && !status.configured && <Link to="/alerts">Add an alert channel</Link>}
    </Text>
  )
}

function Row({ delivery: d }: { delivery: Delivery }) {
  const { busy, change } = useChange()
  const channel = useQuery(channelsQuery).data?.find((c) => c.id === d.channel)
  return (
    <div style={{ borderTop: '1px solid var(--border)', padding: '8px 0', fontSize: 13 }}>
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <span className="clip">
          <b>{channel?.name ?? d.channel}</b> <span className="muted">{channel && channel.name !== channel.kind ? channel.kind : ''}</span>
        </span>
        <DeliveryState delivery={d} />
      </Group>
      {d.status !== 'delivered' && d.answers && (
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {d.answers.join(' ')}
        </Text>
      )}
      {d.status === 'dead' && (
        <Group mt={6} gap="xs">
          {channel && (
            <Button loading={busy} onClick={() => void change('Not retried.', () => retryDelivery(d.id))}>
              Retry now
            </Button>
          )}
          <Button loading={busy} variant="subtle" onClick={() => void change('Not dismissed.', () => dismissDelivery(d.id))}>
            Dismiss
          </Button>
        </Group>
      )}
    </div>
  )
}
