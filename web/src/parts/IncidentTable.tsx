import { Group, Table } from '@mantine/core'
import type { Incident } from '../api/shapes'
import { brief, zone } from '../format/time'
import { ActionBadge, StatusBadge } from './IncidentBadges'
import { IncidentLink } from './links'
import { plain, WideTable } from './WideTable'

/** IncidentTable lists the incidents of one agent. */
export function IncidentTable({ incidents }: { incidents: Incident[] }) {
  return (
    <WideTable columns={['Incident', plain('Verdict'), { name: `Time, ${zone()}`, right: true, plain: true }]} minWidth={320}>
      {incidents.map((i) => (
        <Table.Tr key={i.id}>
          <Table.Td>
            <IncidentLink id={i.id} />
          </Table.Td>
          <Table.Td>
            <Group gap={6} wrap="wrap">
              <ActionBadge incident={i} />
              <StatusBadge incident={i} />
            </Group>
          </Table.Td>
          <Table.Td ta="right" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
            {brief(i.time)}
          </Table.Td>
        </Table.Tr>
      ))}
    </WideTable>
  )
}
