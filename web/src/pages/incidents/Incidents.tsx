import { Button, Card, Group, SegmentedControl, Select, Stack, Switch, Text, TextInput, Title } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconAlertOctagon, IconSearch } from '@tabler/icons-react'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { incidentCounts, type IncidentFilter, incidentPages, type IncidentSort } from '../../api/incidents'
import type { IncidentCount } from '../../api/shapes'
import { count, times } from '../../format/figures'
import { Empty } from '../../parts/Empty'
import { Loaded } from '../../parts/Loaded'
import { More } from '../../parts/More'
import { useTitle } from '../../parts/useTitle'
import { GroupList } from './GroupList'

const kinds = [
  { value: 'kill_switch', label: 'Kill Switch' },
  { value: 'growth', label: 'Growth' },
  { value: 'budget_soft', label: 'Soft budget' },
  { value: 'budget_hard', label: 'Hard budget' },
  { value: 'session_limit', label: 'Session limit' },
  { value: 'steer', label: 'Steer' },
]

const detectors = ['stall', 'similarity', 'growth', 'exact']

const verdicts = [
  { value: 'false', label: 'Enforced' },
  { value: 'true', label: 'Shadow: would stop' },
]

const sorts = [
  { value: 'cost', label: 'Cost, highest first' },
  { value: 'stops', label: 'Stopped first' },
  { value: 'newest', label: 'Newest first' },
]

const statuses = [
  { value: 'open', label: 'Open' },
  { value: 'all', label: 'All' },
  { value: 'resumed', label: 'Resumed' },
  { value: 'continued', label: 'Continued' },
  { value: 'recovered', label: 'Recovered' },
  { value: 'unmoved', label: 'Not recovered' },
  { value: 'kept', label: 'Kept stopped' },
  { value: 'false_positive', label: 'Marked as wrong' },
]

type Change = { agent?: string; status?: string; kind?: string; detector?: string; shadow?: string; sort?: string; alone?: string }

/** Incidents is every verdict that a person should have looked at: first those
 *  that nobody has decided, the dearest on top. */
export default function Incidents() {
  const { agent = '', status = 'open', kind = null, detector = null, shadow = null, sort: asked, alone } = useSearch({ from: '/shell/incidents' })
  const usual = status === 'open' ? 'cost' : 'newest'
  const sort = asked ?? usual
  const navigate = useNavigate()
  const [search] = useDebouncedValue(agent.trim(), 200)
  const filter: IncidentFilter = {
    search: search || undefined,
    status: status === 'all' ? undefined : (status as IncidentFilter['status']),
    kind: (kind ?? undefined) as IncidentFilter['kind'],
    detector: (detector ?? undefined) as IncidentFilter['detector'],
    shadow: (shadow ?? undefined) as IncidentFilter['shadow'],
  }
  const query = useInfiniteQuery(incidentPages(filter, sort as IncidentSort))
  const incidents = query.data?.pages.flatMap((p) => p.rows) ?? []
  // How many there are to choose does not depend on what is chosen.
  const counts = useQuery(incidentCounts({ ...filter, detector: undefined, status: undefined })).data?.counts
  const number = (of: string, by: string | null) => counts && sum(counts.filter((c) => (of === 'all' || c.status === of) && (!by || c.detector === by)))
  const total = number(status, detector)
  useTitle('Incidents', total)
  const show = (change: Change) => void navigate({ to: '/incidents', search: (was) => ({ ...(was as Change), ...change }), replace: true, resetScroll: false })
  return (
    <Stack gap="md">
      <Group justify="space-between">
        <Group gap="sm" align="baseline">
          <Title order={1}>Incidents</Title>
          <Text size="sm" c="dimmed" role="status">
            {total !== undefined && times(total, 'incident')}
          </Text>
        </Group>
        <SegmentedControl
          aria-label="Status"
          size="xs"
          value={status}
          onChange={(v) => show({ status: v === 'open' ? undefined : v })}
          data={statuses.flatMap(({ value, label }) => {
            const n = number(value, detector)
            const always = value === 'open' || value === 'all' || value === status
            return always || n ? { value, label: n === undefined ? label : `${label} ${count(n)}` } : []
          })}
        />
      </Group>
      <Card>
        <Group gap="sm" mb="sm">
          <TextInput
            aria-label="Find by part of the agent's name or the incident's id"
            placeholder="Agent or incident id"
            leftSection={<IconSearch size={14} />}
            flex="1 1 160px"
            maw={280}
            value={agent}
            onChange={(e) => show({ agent: e.currentTarget.value || undefined })}
          />
          <Select
            aria-label="Detector"
            placeholder="Any detector"
            data={detectors.map((d) => ({ value: d, label: counts ? `${d} (${count(number(status, d)!)})` : d }))}
            value={detector}
            onChange={(v) => show({ detector: v ?? undefined })}
            clearable
            flex="1 1 140px"
            maw={200}
          />
          <Select aria-label="Kind" placeholder="Any kind" data={kinds} value={kind} onChange={(v) => show({ kind: v ?? undefined })} clearable flex="1 1 130px" maw={180} />
          <Select aria-label="Enforced or shadow" placeholder="Any verdict" data={verdicts} value={shadow} onChange={(v) => show({ shadow: v ?? undefined })} clearable flex="1 1 150px" maw={220} />
          <Select aria-label="Sort" data={sorts} value={sort} onChange={(v) => show({ sort: !v || v === usual ? undefined : v })} allowDeselect={false} flex="1 1 160px" maw={200} />
          <Switch label="Group by cause" checked={alone === undefined} onChange={(e) => show({ alone: e.currentTarget.checked ? undefined : '1' })} />
        </Group>
        <Loaded query={query} thing="incidents" rows={6}>
          {() => {
            if (incidents.length > 0) return <GroupList incidents={incidents} grouped={alone === undefined} byCost={sort === 'cost'} more={query.hasNextPage} />
            return <None filtered={Boolean(search || kind || detector || shadow)} status={status} all={number('all', null)} onAll={() => show({ status: 'all' })} />
          }}
        </Loaded>
        <More query={query} shown={incidents.length} of={total} />
      </Card>
    </Stack>
  )
}

function None({ filtered, status, all, onAll }: { filtered: boolean; status: string; all: number | undefined; onAll: () => void }) {
  const icon = <IconAlertOctagon size={20} />
  if (filtered) {
    return (
      <Empty icon={icon} title="No matches">
        Other incidents are hidden by the filter.
      </Empty>
    )
  }
  if (!all) {
    return (
      <Empty icon={icon} title={status === 'open' ? 'No open incidents' : 'No incidents'}>
        No agent has run away.
      </Empty>
    )
  }
  return (
    <Empty icon={icon} title={status === 'open' ? 'No open incidents' : 'No matches'} action={<Button onClick={onAll}>Show all {count(all)}</Button>}>
      {status === 'open' ? 'All have been decided.' : 'Other incidents are hidden by the filter.'}
    </Empty>
  )
}

function sum(counts: IncidentCount[]): number {
  return counts.reduce((n, c) => n + c.count, 0)
}
