import { Table, UnstyledButton } from '@mantine/core'
import type { Event } from '../api/shapes'
import { short } from '../format/figures'
import { brief, full, span } from '../format/time'
import { Dot } from './Dot'
import { eventWords, typeWords } from './eventWords'
import { AgentLink, SessionLink } from './links'
import { right, WideTable } from './WideTable'

/** EventTable lists events, one line each. */
export function EventTable({ events, withAgent, onOpen }: { events: Event[]; withAgent?: boolean; onOpen: (e: Event) => void }) {
  return (
    <WideTable
      columns={[
        { name: 'Time', width: 112 },
        { name: 'Event', width: 124 },
        withAgent && 'Agent',
        'Session',
        'What',
        right('Tokens in, out'),
        right('Latency'),
        right('Cost or status'),
      ]}
      minWidth={withAgent ? 960 : 720}
      highlightOnHover
      verticalSpacing={5}
    >
      {events.map((e) => (
        <Row key={e.id} event={e} withAgent={withAgent} onOpen={() => onOpen(e)} />
      ))}
    </WideTable>
  )
}

function Row({ event: e, withAgent, onOpen }: { event: Event; withAgent?: boolean; onOpen: () => void }) {
  const { color, what, figure } = eventWords(e)
  const tokens = e.tokens.input + e.tokens.output
  return (
    <Table.Tr onClick={onOpen} style={{ cursor: 'pointer' }}>
      <Table.Td style={{ whiteSpace: 'nowrap' }}>
        <UnstyledButton fz={13} c="dimmed" title={full(e.time)} aria-label={`Open event of ${full(e.time)}`}>
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
      <Table.Td maw={260} className="clip" c="dimmed" title={what}>
        {what}
      </Table.Td>
      <Table.Td ta="right" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
        {tokens > 0 && `${short(e.tokens.input)}, ${short(e.tokens.output)}`}
      </Table.Td>
      <Table.Td ta="right" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
        {e.latency_ms > 0 && span(e.latency_ms)}
      </Table.Td>
      <Table.Td ta="right" style={{ whiteSpace: 'nowrap' }}>
        {figure}
      </Table.Td>
    </Table.Tr>
  )
}
