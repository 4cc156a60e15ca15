import { Code, Table, Text, UnstyledButton } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Event, IncidentDetail } from '../../api/shapes'
import { money, short } from '../../format/figures'
import { clock, full, span, zone } from '../../format/time'
import { EventDrawer } from '../../parts/EventDrawer'
import { right, WideTable } from '../../parts/WideTable'
import { type Entry, named, type Scene } from './scene'

const shown = 6

/** LastCalls are the calls that led up to an incident, the newest first: what
 *  the agent did, and what each call cost. */
export function LastCalls({ incident, scene }: { incident: IncidentDetail; scene: Scene | undefined }) {
  const [open, setOpen] = useState<Event>()
  if (!scene) return null
  const newest = scene.entries.slice(-shown).reverse()
  return (
    <>
      <WideTable columns={['Call', 'Tool', 'Answer', right('Cost'), right('Tokens in, out'), right('Latency'), right(`Time, ${zone()}`)]} minWidth={560} mt="sm" verticalSpacing={5}>
        {newest.map((e) => (
          <Row key={e.event.id} entry={e} onOpen={() => setOpen(e.event)} />
        ))}
      </WideTable>
      <Text size="xs" c="dimmed" mt="xs">
        The last {newest.length} calls until then, the newest first.{' '}
        <Link to="/events" search={{ agent: incident.agent, session: incident.session || undefined }}>
          All calls
        </Link>
      </Text>
      <EventDrawer event={open} onClose={() => setOpen(undefined)} />
    </>
  )
}

function Row({ entry, onOpen }: { entry: Entry; onOpen: () => void }) {
  const e = entry.event
  const refused = e.event_type === 'blocked'
  return (
    <Table.Tr>
      <Table.Td fw={600}>
        <UnstyledButton fz={13} fw={600} c="var(--accent)" onClick={onOpen} aria-label={`Open call ${named(entry)} of ${full(e.time)}`}>
          {named(entry)}
        </UnstyledButton>
      </Table.Td>
      <Table.Td maw={220} className="clip">
        {e.tool_calls?.length ? (
          <Code bg="none" p={0} fz={13}>
            <bdi>{[...new Set(e.tool_calls)].join(', ')}</bdi>
          </Code>
        ) : (
          !refused && <span className="muted">none</span>
        )}
      </Table.Td>
      <Table.Td c={refused ? 'var(--red)' : 'dimmed'}>{refused ? `refused, HTTP ${e.status}` : `HTTP ${e.status}`}</Table.Td>
      <Table.Td ta="right">{money(e.cost_usd)}</Table.Td>
      <Table.Td ta="right" c="dimmed">
        {e.tokens.input + e.tokens.output > 0 && `${short(e.tokens.input)}, ${short(e.tokens.output)}`}
      </Table.Td>
      <Table.Td ta="right" c="dimmed">
        {e.latency_ms > 0 && !refused && span(e.latency_ms)}
      </Table.Td>
      <Table.Td ta="right" c="dimmed">{clock(e.time)}</Table.Td>
    </Table.Tr>
  )
}
