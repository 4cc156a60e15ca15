import { Card, Group, Stack, TextInput, Title } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconListTree, IconSearch } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { sessionPages } from '../../api/agents'
import { Empty } from '../../parts/Empty'
import { Loaded } from '../../parts/Loaded'
import { More } from '../../parts/More'
import { SessionTable } from '../../parts/SessionTable'

/** Sessions is every session that the record still holds. */
export default function Sessions() {
  const { agent = '' } = useSearch({ from: '/shell/sessions' })
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const [search] = useDebouncedValue(text.trim(), 200)
  const [of] = useDebouncedValue(agent.trim(), 200)
  const query = useInfiniteQuery(sessionPages({ search: search || undefined, agent: of || undefined }))
  return (
    <Stack gap="md">
      <Group justify="space-between">
        <Title order={1}>Sessions</Title>
        <Group gap="sm">
          <TextInput
            aria-label="Agent"
            placeholder="Agent"
            value={agent}
            onChange={(e) => void navigate({ to: '/sessions', search: { agent: e.currentTarget.value || undefined }, replace: true })}
          />
          <TextInput
            aria-label="Find a session by a part of its id"
            placeholder="Find by id"
            leftSection={<IconSearch size={14} />}
            value={text}
            onChange={(e) => setText(e.currentTarget.value)}
          />
        </Group>
      </Group>
      <Card>
        <Loaded query={query} thing="sessions" rows={8}>
          {(data) => {
            const sessions = data.pages.flatMap((p) => p.rows)
            return sessions.length === 0 ? (
              <Empty icon={<IconListTree size={20} />} title="No session in this time">
                {search || of ? 'Other sessions are hidden by the filter.' : 'A session appears with its first call.'}
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
