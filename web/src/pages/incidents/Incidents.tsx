import { Card, Group, SegmentedControl, Select, Stack, Switch, Text, TextInput, Title } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconAlertOctagon, IconSearch } from '@tabler/icons-react'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect } from 'react'
import { incidentCounts, type IncidentFilter, incidentPages, type IncidentSort } from '../../api/incidents'
import type { IncidentCount } from '../../api/shapes'
import { count, times } from '../../format/figures'
import { Empty } from '../../parts/Empty'
import { Loaded } from '../../parts/Loaded'
import { More } from '../../parts/More'
import { useTitle } from '../../parts/useTitle'
import { GroupList } from './GroupList'
import { remember } from './walk'

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
  { value: 'newest', label: 'Newest first' },
  { value: 'stops', label: 'Stopped first' },
  { value: 'cost', label: 'Cost, highest first' },
]

const statuses = [
  { value: 'all', label: 'All' },
  { value: 'open', label: 'Open' },
  { value: 'resumed', label: 'Resumed' },
  { value: 'continued', label: 'Continued' },
  { value: 'recovered', label: 'Recovered' },
  { value: 'unmoved', label: 'Not recovered' },
  { value: 'kept', label: 'Kept stopped' },
  { value: 'false_positive', label: 'Marked as wrong' },
]

type Change = { agent?: string; status?: string; kind?: string; detector?: string; shadow?: string; sort?: string; alone?: string }

/** Incidents is every verdict that a person should have looked at. */
export default function Incidents() {
  const { agent = '', status = 'all', kind = null, detector = null, shadow = null, sort = 'newest', alone } = useSearch({ from: '/shell/incidents' })
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
  // Which detectors there are to choose does not depend on the one chosen.
  const counted = useQuery(incidentCounts({ ...filter, detector: undefined })).data?.counts
  const counts = counted ?? []
  const total = counted && sum(counts.filter((c) => !detector || c.detector === detector))
  useTitle('Incidents', total)
  useEffect(() => remember(incidents.map((i) => i.id)))
  const show = (change: Change) => void navigate({ to: '/incidents', search: (was) => ({ ...(was as Change), ...change }), replace: true })
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
          maw="100%"
          style={{ overflowX: 'auto' }} // the words are wider than the smallest phones
          value={status}
          onChange={(v) => show({ status: v === 'all' ? undefined : v })}
          data={statuses}
        />
      </Group>
      <Card>
        <Group gap="sm" mb="sm">
          <TextInput
            aria-label="Find by part of the agent's name or the incident's id"
            placeholder="Agent or incident id"
            leftSection={<IconSearch size={14} />}
            w={200}
            value={agent}
            onChange={(e) => show({ agent: e.currentTarget.value || undefined })}
          />
          <Select
            aria-label="Detector"
            placeholder="Any detector"
            data={detectors.map((d) => ({ value: d, label: counted ? `${d} (${count(sum(counts.filter((c) => c.detector === d)))})` : d }))}
            value={detector}
            onChange={(v) => show({ detector: v ?? undefined })}
            clearable
            w={156}
          />
          <Select aria-label="Kind" placeholder="Any kind" data={kinds} value={kind} onChange={(v) => show({ kind: v ?? undefined })} clearable w={140} />
          <Select aria-label="Enforced or shadow" placeholder="Any verdict" data={verdicts} value={shadow} onChange={(v) => show({ shadow: v ?? undefined })} clearable w={180} />
          <Select aria-label="Sort" data={sorts} value={sort} onChange={(v) => show({ sort: !v || v === 'newest' ? undefined : v })} allowDeselect={false} w={168} />
          <Switch label="Group by cause" checked={alone === undefined} onChange={(e) => show({ alone: e.currentTarget.checked ? undefined : '1' })} />
        </Group>
        <Loaded query={query} thing="incidents" rows={6}>
          {() => {
            if (incidents.length > 0) return <GroupList incidents={incidents} grouped={alone === undefined} />
            const filtered = search !== '' || status !== 'all' || kind !== null || detector !== null || shadow !== null
            return (
              <Empty icon={<IconAlertOctagon size={20} />} title={search || kind || detector || shadow ? 'No matches' : status === 'open' ? 'No open incidents' : 'No incidents'}>
                {filtered ? 'Other incidents are hidden by the filter.' : 'No agent has run away.'}
              </Empty>
            )
          }}
        </Loaded>
        <More query={query} shown={incidents.length} of={total} />
      </Card>
    </Stack>
  )
}

function sum(counts: IncidentCount[]): number {
  return counts.reduce((n, c) => n + c.count, 0)
}
