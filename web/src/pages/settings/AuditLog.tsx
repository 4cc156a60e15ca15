import { Button, Group, Table } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { auditPages } from '../../api/service'
import { useSections } from '../../api/settings'
import type { AuditEntry } from '../../api/shapes'
import { brief, zone } from '../../format/time'
import { changeWords } from '../../parts/auditWords'
import { Empty } from '../../parts/Empty'
import { AgentLink } from '../../parts/links'
import { Loaded } from '../../parts/Loaded'
import { More } from '../../parts/More'
import { Section } from '../../parts/Section'
import { WideTable } from '../../parts/WideTable'

const atOnce = 10

/** AuditLog is who changed what, the newest first, and the whole of it as a file. */
export function AuditLog() {
  const query = useInfiniteQuery(auditPages(atOnce))
  return (
    <Section
      title="Audit log"
      aside="who changed what; kept apart from events"
      actions={
        <Group gap="xs">
          <Export format="csv">Export CSV</Export>
          <Export format="jsonl">Export JSON lines</Export>
        </Group>
      }
    >
      <Loaded query={query} thing="the audit log">
        {(data) => {
          const entries = data.pages.flatMap((p) => p.rows)
          return entries.length === 0 ? (
            <Empty title="Nothing has been changed yet" />
          ) : (
            <>
              <WideTable columns={[`Time, ${zone()}`, 'Who', 'Change', 'Agent', 'Why']} minWidth={640}>
                {entries.map((e) => (
                  <Row key={e.id} of={e} />
                ))}
              </WideTable>
              <More query={query} />
            </>
          )
        }}
      </Loaded>
    </Section>
  )
}

function Row({ of: e }: { of: AuditEntry }) {
  return (
    <Table.Tr>
      <Table.Td c="dimmed" style={{ whiteSpace: 'nowrap' }}>
        {brief(e.time)}
      </Table.Td>
      <Table.Td maw={160} style={{ overflowWrap: 'anywhere' }}>
        {e.by}
      </Table.Td>
      <Table.Td maw={360} style={{ overflowWrap: 'anywhere' }}>
        {changeWords(e, useSections())}
      </Table.Td>
      <Table.Td>{e.agent && <AgentLink id={e.agent} />}</Table.Td>
      <Table.Td maw={240} c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        {e.why}
      </Table.Td>
    </Table.Tr>
  )
}

function Export({ format, children }: { format: 'csv' | 'jsonl'; children: string }) {
  return (
    <Button component="a" href={`/v1/audit/export?format=${format}`} download>
      {children}
    </Button>
  )
}
