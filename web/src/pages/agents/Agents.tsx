import { Card, Group, SegmentedControl, Select, Stack, Table, TextInput, Title } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconRobot, IconSearch } from '@tabler/icons-react'
import { useInfiniteQuery, useQueries } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { memo } from 'react'
import { type AgentFilter, agentPages, statsQuery } from '../../api/agents'
import type { Agent } from '../../api/shapes'
import { count, money } from '../../format/figures'
import { Ago } from '../../parts/Ago'
import { AgentBadge } from '../../parts/AgentState'
import { Empty } from '../../parts/Empty'
import { AgentLink } from '../../parts/links'
import { Loaded } from '../../parts/Loaded'
import { More } from '../../parts/More'
import { wasSeen } from '../../parts/seen'
import { Sparkline } from '../../parts/Sparkline'
import { useTitle } from '../../parts/useTitle'
import { plain, right, WideTable } from '../../parts/WideTable'

const rows = 25

const sorts = [
  { value: 'last_seen', label: 'Last call, newest first' },
  { value: 'cost', label: 'Spend, highest first' },
  { value: 'calls', label: 'Calls, most first' },
  { value: 'blocked', label: 'Blocked, most first' },
]

function counted(word: string, n: number | undefined): string {
  return n === undefined ? word : `${word} ${count(n)}`
}

/** Agents is every agent that ever called, or was given a policy. */
export default function Agents() {
  const { search: text = '', state = '', sort = 'last_seen' } = useSearch({ from: '/shell/agents' })
  const navigate = useNavigate()
  const show = (change: { search?: string; state?: string; sort?: string }) =>
    void navigate({ to: '/agents', search: (was) => ({ ...(was as object), ...change }), replace: true, resetScroll: false })
  const [search] = useDebouncedValue(text.trim(), 200)
  const filter: AgentFilter = { search: search || undefined, state: (state || undefined) as AgentFilter['state'], sort: sort as AgentFilter['sort'] }
  const query = useInfiniteQuery(agentPages(filter, rows))
  const calls = useCalls(query.data?.pages.map((p) => p.rows) ?? [])
  const counts = query.data?.pages[0]?.counts
  const all = counts && counts.active + counts.stopped + counts.inactive
  const total = counts && (state === '' ? all : counts[state as keyof typeof counts])
  useTitle('Agents', total)
  return (
    <Stack gap="md">
      <Group justify="space-between">
        <Title order={1}>Agents</Title>
        <Group gap="sm">
          <TextInput
            aria-label="Find an agent by part of its id"
            placeholder="Find by id"
            leftSection={<IconSearch size={14} />}
            value={text}
            onChange={(e) => show({ search: e.currentTarget.value || undefined })}
          />
          <Select aria-label="Sort" data={sorts} value={sort} onChange={(v) => show({ sort: !v || v === 'last_seen' ? undefined : v })} allowDeselect={false} w={200} />
          <SegmentedControl
            aria-label="State"
            size="xs"
            value={state}
            onChange={(v) => show({ state: v || undefined })}
            data={[
              { value: '', label: counted('All', all) },
              { value: 'active', label: counted('Active', counts?.active) },
              { value: 'stopped', label: counted('Stopped', counts?.stopped) },
              { value: 'inactive', label: counted('Inactive', counts?.inactive) },
            ]}
          />
        </Group>
      </Group>
      <Card>
        <Loaded query={query} thing="agents" rows={8}>
          {(data) => {
            const agents = data.pages.flatMap((p) => p.rows)
            return agents.length === 0 ? <None filtered={search !== '' || state !== ''} /> : <Listing agents={agents} calls={calls} />
          }}
        </Loaded>
        <More query={query} shown={query.data?.pages.reduce((n, p) => n + p.rows.length, 0)} of={total} />
      </Card>
    </Stack>
  )
}

function None({ filtered }: { filtered: boolean }) {
  return filtered ? (
    <Empty icon={<IconSearch size={20} />} title="No matches">
      Other agents are hidden by the filter.
    </Empty>
  ) : (
    <Empty icon={<IconRobot size={20} />} title="No agent yet">
      It appears with its first call.
    </Empty>
  )
}

function Listing({ agents, calls }: { agents: Agent[]; calls: Map<string, number[]> }) {
  return (
    <WideTable
      columns={[
        'Agent',
        plain('State'),
        'Kill Switch',
        right('All calls'),
        right('of them blocked'),
        right('All spend'),
        right('Spent today'),
        'Calls, 24 h',
        right('Last call'),
      ]}
      minWidth={960}
    >
      {agents.map((a) => (
        <Row key={a.id} agent={a} calls={calls.get(a.id)} />
      ))}
    </WideTable>
  )
}

// What an event changes is a few rows: the others are not drawn again.
const Row = memo(function Row({ agent: a, calls }: { agent: Agent; calls: number[] | undefined }) {
  return (
    <Table.Tr>
      <Table.Td maw={280} className="clip">
        <AgentLink id={a.id} />
      </Table.Td>
      <Table.Td>
        <AgentBadge agent={a} />
      </Table.Td>
      <Table.Td c="dimmed">{a.policy.kill_switch.enabled ? 'On' : 'Off'}</Table.Td>
      <Table.Td ta="right">{count(a.totals.calls)}</Table.Td>
      <Table.Td ta="right" c={a.totals.blocked > 0 ? 'var(--red)' : 'dimmed'}>
        {count(a.totals.blocked)}
      </Table.Td>
      <Table.Td ta="right">{money(a.totals.cost_usd)}</Table.Td>
      <Table.Td ta="right">{money(a.spending.find((p) => p.period === 'day')?.spent.cost_usd ?? 0)}</Table.Td>
      <Table.Td>
        <Activity agent={a} calls={calls} />
      </Table.Td>
      <Table.Td ta="right" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
        {wasSeen(a.last_seen) ? <Ago time={a.last_seen} /> : 'never'}
      </Table.Td>
    </Table.Tr>
  )
})

// useCalls are the calls of each hour of the last day, by agent: one request for
// each page of the list. Whoever has not called for a day need not be asked for.
function useCalls(pages: Agent[][]): Map<string, number[]> {
  const day = Date.now() - 86_400_000
  const asked = pages.map((page) => page.filter((a) => new Date(a.last_seen).getTime() > day).map((a) => a.id)).filter((ids) => ids.length > 0)
  return useQueries({
    queries: asked.map((ids) => statsQuery({ since: '24h', step: '1h', by: 'agent', id: ids, series: true, limit: ids.length })),
    combine: (answers) => new Map(answers.flatMap((a) => (a.data?.groups ?? []).map((g) => [g.name, g.series ?? []]))),
  })
}

function Activity({ agent, calls = [0, 0] }: { agent: Agent; calls?: number[] }) {
  return <Sparkline values={calls} label={`Calls of ${agent.id} in 24 hours`} color={agent.active ? 'var(--accent)' : agent.deactivated_by === 'kill_switch' ? 'var(--red-fill)' : 'var(--gray-fill)'} />
}
