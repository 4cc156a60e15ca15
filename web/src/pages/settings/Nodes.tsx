import { Group, Table } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { statusQuery } from '../../api/service'
import { full } from '../../format/time'
import { Ago } from '../../parts/Ago'
import { Dot } from '../../parts/Dot'
import { Section } from '../../parts/Section'
import { plain, WideTable } from '../../parts/WideTable'
import classes from './settings.module.css'

/** Nodes are those that share the record, where there are several: which live,
 *  and which version they run. */
export function Nodes() {
  const status = useQuery({ ...statusQuery, refetchInterval: 5000 }).data
  if (!status || status.nodes.length < 2) return null
  const versions = new Set(status.nodes.filter((n) => n.alive).map((n) => n.version))
  return (
    <Section title="Nodes" aside={versions.size > 1 ? 'of several versions: an upgrade is under way' : 'that share the record'}>
      <WideTable columns={['Node', 'Machine', plain('State'), 'Version', 'Started', 'Last seen']} minWidth={680} label="Table of nodes">
        {status.nodes.map((n) => (
          <Table.Tr key={n.id}>
            <Table.Td className="mono" fw={n.id === status.node ? 600 : undefined}>
              {n.id}
              {n.id === status.node && <span className={classes.kind}>this one</span>}
            </Table.Td>
            <Table.Td className="mono">{n.host || '–'}</Table.Td>
            <Table.Td className={classes.whole}>
              <Group gap={6} wrap="nowrap">
                <Dot color={n.alive ? 'green' : 'gray'} /> {n.alive ? 'Running' : 'Gone'}
              </Group>
            </Table.Td>
            <Table.Td className={classes.whole}>{n.version}</Table.Td>
            <Table.Td className={classes.whole} title={full(n.started_at)}>
              <Ago time={n.started_at} />
            </Table.Td>
            <Table.Td className={classes.whole} title={full(n.seen_at)}>
              <Ago time={n.seen_at} />
            </Table.Td>
          </Table.Tr>
        ))}
      </WideTable>
    </Section>
  )
}
