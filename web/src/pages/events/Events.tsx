import { Button, Card, Group, Menu, MultiSelect, Select, Stack, Text, TextInput, Title } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconDownload, IconSearch } from '@tabler/icons-react'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'
import { type EventFilter, eventPages, eventQuery, exportAddress } from '../../api/events'
import type { Event } from '../../api/shapes'
import { Empty } from '../../parts/Empty'
import { EventDrawer } from '../../parts/EventDrawer'
import { EventTable } from '../../parts/EventTable'
import { typeWords } from '../../parts/eventWords'
import { Loaded } from '../../parts/Loaded'
import { More } from '../../parts/More'
import { useTitle } from '../../parts/useTitle'
import { useHeard } from './useHeard'

const spans = [
  { value: '1h', label: 'Last hour' },
  { value: '24h', label: 'Last 24 hours' },
  { value: '7d', label: 'Last 7 days' },
  { value: '30d', label: 'Last 30 days' },
]

// The fields of the filter share a line where there is one.
const narrow = '1 1 120px'

type Search = { agent?: string; session?: string; type?: string; since?: string; event?: string }

/** Events is the record, the newest first, as it grows. */
export default function Events() {
  const search = useSearch({ from: '/shell/events' })
  const navigate = useNavigate()
  const show = (change: Search) => void navigate({ to: '/events', search: (was) => ({ ...(was as Search), ...change }), replace: true, resetScroll: false })
  const open = useCallback((e: Event) => show({ event: e.id }), [navigate])
  const since = search.since ?? null
  const [text] = useDebouncedValue({ agent: search.agent, session: search.session }, 250)
  const filter: EventFilter = useMemo(
    () => ({ agent: text.agent, session: text.session, type: search.type?.split(','), since: since ?? undefined }),
    [text.agent, text.session, search.type, since],
  )
  const query = useInfiniteQuery(eventPages(filter))
  const live = useHeard(filter, async () => (await query.refetch()).isSuccess)
  const stored = query.data?.pages.flatMap((p) => p.rows) ?? []
  const seen = new Set(stored.map((e) => e.id))
  const events = [...live.heard.filter((e) => !seen.has(e.id)), ...stored]
  useTitle('Events', query.data && events.length, query.hasNextPage)
  const filtered = Boolean(search.agent || search.session || search.type || since)
  const clear = () => {
    show({ agent: undefined, session: undefined, type: undefined, since: undefined })
  }
  return (
    <Stack gap="md">
      <Group justify="space-between">
        <Title order={1}>Events</Title>
        <Group gap="xs">
          <Button onClick={live.toggle}>{live.paused ? `Continue${live.waiting === '0' ? '' : `, ${live.waiting} waiting`}` : 'Pause'}</Button>
          <Export filter={filter} />
        </Group>
      </Group>
      <Card>
        <Group gap="sm" mb="md" align="flex-end">
          <TextInput label="Agent" placeholder="Any" flex={narrow} maw={240} value={search.agent ?? ''} onChange={(e) => show({ agent: e.currentTarget.value.trim() || undefined })} />
          <TextInput label="Session" placeholder="Any" flex={narrow} maw={240} value={search.session ?? ''} onChange={(e) => show({ session: e.currentTarget.value || undefined })} />
          <MultiSelect
            label="Events"
            placeholder={search.type ? undefined : 'All'}
            flex="2 1 200px"
            maw={300}
            data={Object.entries(typeWords).map(([value, label]) => ({ value, label }))}
            value={search.type?.split(',') ?? []}
            onChange={(v) => show({ type: v.join(',') || undefined })}
            clearable
          />
          <Select label="Time" placeholder="Everything kept" data={spans} value={since} onChange={(v) => show({ since: v ?? undefined })} clearable flex="1 1 150px" maw={180} />
          {filtered && (
            <Button variant="subtle" onClick={clear}>
              Clear filter
            </Button>
          )}
        </Group>
        <Loaded query={query} thing="events" rows={10}>
          {() =>
            events.length > 0 ? (
              <EventTable events={events} withAgent onOpen={open} />
            ) : filtered ? (
              <Empty icon={<IconSearch size={20} />} title="No matches" action={<Button onClick={clear}>Clear filter</Button>}>
                Other events are hidden by the filter.
              </Empty>
            ) : (
              <Empty title="No event yet">Events appear with the first call.</Empty>
            )
          }
        </Loaded>
        <More query={query} />
      </Card>
      <Opened id={search.event} events={events} onShow={(event) => show({ event })} />
    </Stack>
  )
}

// Opened shows the event that the address names, so that a link to it works.
function Opened({ id, events, onShow }: { id: string | undefined; events: Event[]; onShow: (id: string | undefined) => void }) {
  const at = events.findIndex((e) => e.id === id)
  const asked = useQuery({ ...eventQuery(id ?? ''), enabled: id !== undefined && at < 0 }).data
  const event = id === undefined ? undefined : (events[at] ?? asked)
  const move = (by: 1 | -1) => {
    const next = events[at + by]
    if (next) onShow(next.id)
  }
  return <EventDrawer event={event} onClose={() => onShow(undefined)} onMove={move} />
}

function Export({ filter }: { filter: EventFilter }) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button leftSection={<IconDownload size={14} />}>Export</Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item component="a" href={exportAddress(filter, 'jsonl')} download>
          JSON lines
        </Menu.Item>
        <Menu.Item component="a" href={exportAddress(filter, 'csv')} download>
          CSV
        </Menu.Item>
        <Text size="xs" c="dimmed" px="sm" py={4}>
          All events that match the filter
        </Text>
      </Menu.Dropdown>
    </Menu>
  )
}
