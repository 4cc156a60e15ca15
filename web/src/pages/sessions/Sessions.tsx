import { Card, Group, Select, Stack, TextInput, Title } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconListTree, IconSearch } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type SessionFilter, sessionPages } from '../../api/agents'
import { Empty } from '../../parts/Empty'
import { Loaded } from '../../parts/Loaded'
import { More } from '../../parts/More'
import { SessionTable } from '../../parts/SessionTable'
import { useTitle } from '../../parts/useTitle'

/** Sessions is every session that the record still holds. */
export default function Sessions() {
  const { agent = '', search: text = '', state = '', sort = 'last_seen' } = useSearch({ from: '/shell/sessions' })
  const navigate = useNavigate()
  const show = (change: { agent?: string; search?: string; state?: string; sort?: string }) =>
    void navigate({ to: '/sessions', search: (was) => ({ ...(was as object), ...change }), replace: true, resetScroll: false })
  const [search] = useDebouncedValue(text.trim(), 200)
  const [of] = useDebouncedValue(agent.trim(), 200)
  const query = useInfiniteQuery(
    sessionPages({ search: search || undefined, agent: of || undefined, state: (state || undefined) as SessionFilter['state'], sort: sort as SessionFilter['sort'] }),
  )
  useTitle('Sessions', query.data?.pages.reduce((n, p) => n + p.rows.length, 0), query.hasNextPage)
  return (
    <Stack gap="md">
      <Group justify="space-between">
        <Title order={1}>Sessions</Title>
        <Group gap="sm">
          <TextInput
            aria-label="Agent"
            placeholder="Agent"
            value={agent}
            onChange={(e) => show({ agent: e.currentTarget.value || undefined })}
          />
          <TextInput
            aria-label="Find a session by part of its id"
            placeholder="Find by id"
            leftSection={<IconSearch size={14} />}
            value={text}
            onChange={(e) => show({ search: e.currentTarget.value || undefined })}
          />
          <Select
            aria-label="State"
            placeholder="Any state"
            data={[
              { value: 'active', label: 'Active' },
              { value: 'halted', label: 'Halted' },
              { value: 'stopped', label: 'Stopped' },
            ]}
            value={state || null}
            onChange={(v) => show({ state: v ?? undefined })}
            clearable
            w={130}
          />
          <Select
            aria-label="Sort"
            data={[
              { value: 'last_seen', label: 'Last call, newest first' },
              { value: 'cost', label: 'Cost, highest first' },
              { value: 'calls', label: 'Calls, most first' },
            ]}
            value={sort}
            onChange={(v) => show({ sort: !v || v === 'last_seen' ? undefined : v })}
            allowDeselect={false}
            w={200}
          />
        </Group>
      </Group>
      <Card>
        <Loaded query={query} thing="sessions" rows={8}>
          {(data) => {
            const sessions = data.pages.flatMap((p) => p.rows)
            return sessions.length === 0 ? (
              <Empty icon={<IconListTree size={20} />} title={search || of || state ? 'No matches' : 'No sessions yet'}>
                {search || of || state ? 'Other sessions are hidden by the filter.' : 'A session appears with its first call.'}
              </Empty>
            ) : (
              <SessionTable sessions={sessions} withAgent={!of} />
            )
          }}
        </Loaded>
        <More query={query} />
      </Card>
    </Stack>
  )
}
