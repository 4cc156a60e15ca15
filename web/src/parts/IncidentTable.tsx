import { Group, Table, Text } from '@mantine/core'
import type { Incident } from '../api/shapes'
import { brief } from '../format/time'
import { ActionBadge, StatusBadge } from './IncidentBadges'
import { AgentLink, IncidentLink } from './links'
import { WideTable } from './WideTable'

/** IncidentTable lists incidents. */
export function IncidentTable({ incidents, withAgent }: { incidents: Incident[]; withAgent?: boolean }) {
  return (
    <WideTable minWidth={withAgent ? 760 : 320}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Incident</Table.Th>
            <Table.Th>Verdict</Table.Th>
            {withAgent && <Table.Th>What happened</Table.Th>}
            {withAgent && <Table.Th>Agent</Table.Th>}
            <Table.Th ta="right">When</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {incidents.map((i) => (
            <Table.Tr key={i.id}>
              <Table.Td>
                <IncidentLink id={i.id} />
              </Table.Td>
              <Table.Td>
                <Group gap={6} wrap={withAgent ? 'nowrap' : 'wrap'}>
                  <ActionBadge incident={i} />
                  <StatusBadge status={i.status} />
                </Group>
              </Table.Td>
              {withAgent && (
                <Table.Td>
                  <Text size="sm" lineClamp={2} style={{ overflowWrap: 'anywhere' }}>
                    {i.sentence}
                  </Text>
                </Table.Td>
              )}
              {withAgent && (
                <Table.Td maw={200} className="clip">
                  <AgentLink id={i.agent} />
                </Table.Td>
              )}
              <Table.Td ta="right" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
                {brief(i.time)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </WideTable>
  )
}
