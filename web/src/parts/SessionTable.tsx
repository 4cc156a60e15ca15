import { Table } from '@mantine/core'
import { memo } from 'react'
import type { Session } from '../api/shapes'
import { count, money, score, short } from '../format/figures'
import { brief, span, zone } from '../format/time'
import { SessionBadge } from './AgentState'
import { AgentLink, SessionLink } from './links'
import { plain, right, WideTable } from './WideTable'

/** SessionTable lists sessions. */
export function SessionTable({ sessions, withAgent }: { sessions: Session[]; withAgent?: boolean }) {
  return (
    <WideTable
      columns={[
        'Session',
        withAgent && plain('Agent'),
        plain('State'),
        plain(`Started (${zone()}), lasted`),
        right('Calls'),
        right('Prompt tokens'),
        right('Cost'),
        right('Peak score'),
      ]}
      minWidth={720}
    >
      {sessions.map((s) => (
        <Row key={`${s.agent}/${s.id}`} session={s} withAgent={withAgent} />
      ))}
    </WideTable>
  )
}

// What an event changes is a few rows: the others are not drawn again.
const Row = memo(function Row({ session: s, withAgent }: { session: Session; withAgent?: boolean }) {
  return (
    <Table.Tr>
      <Table.Td maw={260}>
        <div className="clip">
          <SessionLink agent={s.agent} id={s.id} />
        </div>
      </Table.Td>
      {withAgent && (
        <Table.Td maw={200} className="clip">
          <AgentLink id={s.agent} />
        </Table.Td>
      )}
      <Table.Td miw="max-content">
        <SessionBadge session={s} />
      </Table.Td>
      <Table.Td style={{ whiteSpace: 'nowrap' }}>
        {brief(s.first_seen)}{' '}
        <span className="muted">{span(new Date(s.last_seen).getTime() - new Date(s.first_seen).getTime())}</span>
      </Table.Td>
      <Table.Td ta="right">{count(s.totals.calls)}</Table.Td>
      <Table.Td ta="right">{short(s.totals.tokens.input)}</Table.Td>
      <Table.Td ta="right">{money(s.totals.cost_usd)}</Table.Td>
      <Table.Td ta="right" c="dimmed">
        {score(s.peak_score)}
      </Table.Td>
    </Table.Tr>
  )
})
