import { Group, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { statusQuery } from '../../api/service'
import type { Upstream } from '../../api/shapes'
import { full, span } from '../../format/time'
import { Ago } from '../../parts/Ago'
import { Dot } from '../../parts/Dot'
import { Loaded } from '../../parts/Loaded'
import { Section } from '../../parts/Section'
import { plain, right, WideTable } from '../../parts/WideTable'
import classes from './settings.module.css'

const interval = 5000

/** Upstreams is how the calls to each provider, and to each service of a
 *  policy, went last. It asks again while it is shown. */
export function Upstreams() {
  const query = useQuery({ ...statusQuery, refetchInterval: interval })
  return (
    <Section title="Upstreams" aside="as their latest calls went; haltd sends no request of its own">
      <Loaded query={query} thing="upstreams">
        {({ upstreams }) => {
          const called = upstreams.filter((u) => u.state !== 'unused')
          return (
            <>
              {called.length > 0 && <Called upstreams={called} />}
              <Unused upstreams={upstreams.filter((u) => u.state === 'unused')} />
            </>
          )
        }}
      </Loaded>
    </Section>
  )
}

function Called({ upstreams }: { upstreams: Upstream[] }) {
  return (
    <WideTable columns={['Name', plain('State'), 'Address', 'Last answer', right('First byte'), { name: 'Last failure', width: 260 }]} minWidth={720} label="Table of upstreams" mb="sm">
      {upstreams.map((u) => (
        <Row key={`${u.kind} ${u.name}`} of={u} />
      ))}
    </WideTable>
  )
}

function Row({ of: u }: { of: Upstream }) {
  const { word, color } = stateOf(u)
  return (
    <Table.Tr>
      <Table.Td maw={160} className="clip" fw={600} title={u.name}>
        {u.name}
        {u.kind === 'service' && <span className={classes.kind}>policy</span>}
      </Table.Td>
      <Table.Td className={classes.whole}>
        <Group gap={6} wrap="nowrap">
          <Dot color={color} /> {word}
        </Group>
      </Table.Td>
      <Table.Td maw={240} className="mono clip" title={u.base_url}>
        {u.base_url}
      </Table.Td>
      <Table.Td className={classes.whole} title={u.last_success && full(u.last_success)}>
        {u.last_success ? <>{u.status}, <Ago time={u.last_success} /></> : <span className="muted">none yet</span>}
      </Table.Td>
      <Table.Td ta="right" c="dimmed" className={classes.whole}>
        {u.first_byte_ms !== undefined && span(u.first_byte_ms)}
      </Table.Td>
      <Table.Td c={u.state === 'failing' ? 'var(--red)' : 'dimmed'} title={u.last_failure && full(u.last_failure)}>
        {u.last_failure ? (
          <>
            {u.error}, <span className={classes.whole}><Ago time={u.last_failure} /></span>
          </>
        ) : (
          'none'
        )}
      </Table.Td>
    </Table.Tr>
  )
}

function stateOf(u: Upstream): { word: string; color: 'red' | 'amber' | 'green' } {
  if (u.state === 'failing') return { word: 'Failing', color: 'red' }
  return u.status === 429 ? { word: 'Rate limited', color: 'amber' } : { word: 'Answering', color: 'green' }
}

// Unused are mostly providers that haltd knows by itself: they wait folded.
function Unused({ upstreams }: { upstreams: Upstream[] }) {
  if (upstreams.length === 0) return null
  return (
    <Text component="details" size="sm" c="dimmed">
      <summary className={classes.summary}>{upstreams.length} not called yet</summary>
      <dl className={classes.unused}>
        {upstreams.map((u) => (
          <div key={`${u.kind} ${u.name}`}>
            <dt>
              <Dot color="gray" /> {u.name}
            </dt>
            <dd className="mono clip" title={u.base_url}>
              {u.base_url}
            </dd>
          </div>
        ))}
      </dl>
    </Text>
  )
}
