import { Group, Table, Text } from '@mantine/core'
import type { Incident } from '../api/shapes'
import { brief } from '../format/time'
import { ActionBadge, StatusBadge } from './IncidentBadges'
import { AgentLink, IncidentLink } from './links'
import { right, WideTable } from './WideTable'

/** IncidentTable lists incidents. */
export function IncidentTable({ incidents, withAgent }: { incidents: Incident[]; withAgent?: boolean }) {
  return (
    <WideTable columns={['Incident', 'Verdict', withAgent && 'What happened', withAgent && 'Agent', right('When')]} minWidth={withAgent ? 760 : 320}>
      {incidents.map((i) => (
        <Table.Tr key={i.id}>
          <Table.Td>
            <IncidentLink id={i.id} />
          </Table.Td>
          <Table.Td>
            <Group gap={6} wrap={withAgent ? 'nowrap' : 'wrap'}>
              <ActionBadge incident={i} />
              <StatusBadge incident={i} />
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
    </WideTable>
  )
}
