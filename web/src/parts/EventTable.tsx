import { Table, UnstyledButton } from '@mantine/core'
import { memo } from 'react'
import { useSections } from '../api/settings'
import type { Event } from '../api/shapes'
import { money, score, short } from '../format/figures'
import { brief, full, span, zone } from '../format/time'
import { Dot } from './Dot'
import { eventWords, typeWords } from './eventWords'
import { AgentLink, SessionLink } from './links'
import { plain, right, WideTable } from './WideTable'

/** EventTable lists events, one line each. onOpen must stay the same: with
 *  another, all rows are drawn again. */
export function EventTable({ events, withAgent, onOpen }: { events: Event[]; withAgent?: boolean; onOpen: (e: Event) => void }) {
  return (
    <WideTable
      columns={[
        { name: `Time, ${zone()}`, width: 112 },
        plain('Event', 124),
        withAgent && plain('Agent'),
        plain('Session'),
        plain('What'),
        'Tool',
        right('Tokens in, out'),
        right('Latency'),
        right('Status'),
        right('Score'),
        right('Cost'),
      ]}
      minWidth={withAgent ? 960 : 840}
      highlightOnHover
      verticalSpacing={5}
    >
      {events.map((e) => (
        <Row key={e.id} event={e} withAgent={withAgent} onOpen={onOpen} />
      ))}
    </WideTable>
  )
}

// What was there is not drawn again when another event arrives.
const Row = memo(function Row({ event: e, withAgent, onOpen }: { event: Event; withAgent?: boolean; onOpen: (e: Event) => void }) {
  const { color, what } = eventWords(e, useSections())
  const called = [...new Set(e.tool_calls ?? [])].join(', ')
  const tokens = e.tokens.input + e.tokens.output
  return (
    <Table.Tr onClick={() => onOpen(e)} style={{ cursor: 'pointer' }}>
      <Table.Td style={{ whiteSpace: 'nowrap' }}>
        <UnstyledButton fz={13} c="dimmed" title={full(e.time)} aria-label={`Open event of ${brief(e.time)} (${full(e.time)})`}>
          {brief(e.time)}
        </UnstyledButton>
      </Table.Td>
      <Table.Td style={{ whiteSpace: 'nowrap' }}>
        <Dot color={color} /> {typeWords[e.event_type] ?? e.event_type}
      </Table.Td>
      {withAgent && (
        <Table.Td maw={180} className="clip" onClick={(c) => c.stopPropagation()}>
          {e.agent && <AgentLink id={e.agent} />}
        </Table.Td>
      )}
      <Table.Td maw={200} className="clip" onClick={(c) => c.stopPropagation()}>
        {e.session && <SessionLink agent={e.agent} id={e.session} />}
      </Table.Td>
      <Table.Td maw={220} className="clip" c="dimmed" title={what}>
        {what}
      </Table.Td>
      <Table.Td maw={140} className="clip mono" title={called}>
        {called && <bdi>{called}</bdi>}
      </Table.Td>
      <Table.Td ta="right" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
        {tokens > 0 && `${short(e.tokens.input)}, ${short(e.tokens.output)}`}
      </Table.Td>
      <Table.Td ta="right" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
        {e.latency_ms > 0 && span(e.latency_ms)}
      </Table.Td>
      <Table.Td ta="right" c={e.status >= 400 ? 'var(--amber)' : 'dimmed'}>
        {e.status > 0 && e.status}
      </Table.Td>
      <Table.Td ta="right" c="dimmed">
        {e.score > 0 && score(e.score)}
      </Table.Td>
      <Table.Td ta="right" style={{ whiteSpace: 'nowrap' }}>
        {e.cost_usd > 0 && money(e.cost_usd)}
      </Table.Td>
    </Table.Tr>
  )
})
