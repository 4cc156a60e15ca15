import { Card, Group, SegmentedControl, Select, Stack, Switch, TextInput, Title } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconAlertOctagon } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type IncidentFilter, incidentPages } from '../../api/incidents'
import { Empty } from '../../parts/Empty'
import { Loaded } from '../../parts/Loaded'
import { More } from '../../parts/More'
import { GroupList } from './GroupList'

const kinds = [
  { value: 'kill_switch', label: 'Kill Switch' },
  { value: 'growth', label: 'Growth' },
  { value: 'budget_soft', label: 'Soft budget' },
  { value: 'budget_hard', label: 'Hard budget' },
  { value: 'session_limit', label: 'Session limit' },
  { value: 'steer', label: 'Steer' },
]

const verdicts = [
  { value: 'false', label: 'Done' },
  { value: 'true', label: 'Would stop' },
]

const statuses = [
  { value: 'all', label: 'All' },
  { value: 'open', label: 'Open' },
  { value: 'resumed', label: 'Resumed' },
  { value: 'continued', label: 'Continued' },
  { value: 'recovered', label: 'Recovered' },
  { value: 'unmoved', label: 'Not recovered' },
  { value: 'kept', label: 'Kept stopped' },
  { value: 'false_positive', label: 'Wrong' },
]

/** Incidents is every verdict that a person should have looked at. */
export default function Incidents() {
  const { agent = '', status = 'all', kind = null, shadow = null, alone } = useSearch({ from: '/shell/incidents' })
  const navigate = useNavigate()
  const [of] = useDebouncedValue(agent.trim(), 200)
  const filter: IncidentFilter = {
    agent: of || undefined,
    status: status === 'all' ? undefined : (status as IncidentFilter['status']),
    kind: (kind ?? undefined) as IncidentFilter['kind'],
    shadow: (shadow ?? undefined) as IncidentFilter['shadow'],
  }
  const query = useInfiniteQuery(incidentPages(filter))
  const show = (change: { agent?: string; status?: string; kind?: string; shadow?: string; alone?: string }) =>
    void navigate({
      to: '/incidents',
      search: (was) => ({ agent: was.agent, status: was.status, kind: was.kind, shadow: was.shadow, alone: was.alone, ...change }),
      replace: true,
    })
  return (
    <Stack gap="md">
      <Group justify="space-between">
        <Title order={1}>Incidents</Title>
        <Group gap="sm" miw={0}>
          <TextInput aria-label="Agent" placeholder="Agent" value={agent} onChange={(e) => show({ agent: e.currentTarget.value || undefined })} />
          <Select aria-label="Kind" placeholder="Any kind" data={kinds} value={kind} onChange={(v) => show({ kind: v ?? undefined })} clearable w={140} />
          <Select aria-label="Done or only observed" placeholder="Any verdict" data={verdicts} value={shadow} onChange={(v) => show({ shadow: v ?? undefined })} clearable w={160} />
          <Switch label="Group equal" checked={alone === undefined} onChange={(e) => show({ alone: e.currentTarget.checked ? undefined : '1' })} />
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
      </Group>
      <Card>
        <Loaded query={query} thing="incidents" rows={6}>
          {(data) => {
            const incidents = data.pages.flatMap((p) => p.rows)
            if (incidents.length > 0) return <GroupList incidents={incidents} grouped={alone === undefined} />
            const filtered = of !== '' || status !== 'all' || kind !== null || shadow !== null
            return (
              <Empty icon={<IconAlertOctagon size={20} />} title={status === 'open' ? 'No open incidents' : 'No incidents'}>
                {filtered ? 'No matches for this filter.' : 'No agent has run away.'}
              </Empty>
            )
          }}
        </Loaded>
        <More query={query} />
      </Card>
    </Stack>
  )
}
