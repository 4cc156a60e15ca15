import { Group, SegmentedControl, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { calledQuery, isCall } from '../../api/events'
import { useEvents } from '../../api/live'
import { clock, zone } from '../../format/time'
import { Loaded } from '../../parts/Loaded'
import { useTitle } from '../../parts/useTitle'
import { overviewStats } from './ask'
import { CallsAndSpend } from './CallsAndSpend'
import { FirstRun } from './FirstRun'
import { LiveFeed } from './LiveFeed'
import { OpenIncidents } from './OpenIncidents'
import { RungsCard } from './RungsCard'
import { spanOf, spans } from './span'
import { SummaryCards } from './SummaryCards'
import { TopAgents } from './TopAgents'
import classes from './overview.module.css'

/** Overview is where a reader sees whether anything needs them. Before the
 *  first call it teaches how to make it. */
export default function Overview() {
  const called = useQuery(calledQuery)
  const [taught, setTaught] = useState(false)
  // Who comes back to this page after the first call must not be taught again.
  useEvents((e) => {
    if (called.data === false && isCall(e)) void called.refetch()
  })
  return (
    <Loaded query={called} thing="the record" page rows={4} rowHeight={96}>
      {(any) => {
        // Who watched the first call arrive stays until they go on.
        if (!any && !taught) setTaught(true)
        return !any || taught ? <FirstRun onDone={() => setTaught(false)} /> : <Figures />
      }}
    </Loaded>
  )
}

function Figures() {
  const span = spanOf(useSearch({ from: '/shell/' }).span)
  const navigate = useNavigate()
  useTitle('Overview')
  const stats = useQuery(overviewStats(span))
  return (
    <Stack gap="md">
      <Group justify="space-between">
        <Title order={1}>Overview</Title>
        <Group gap="sm">
          {stats.dataUpdatedAt > 0 && (
            <Text size="sm" c="dimmed">
              as of {clock(stats.dataUpdatedAt)} {zone()}
            </Text>
          )}
          <SegmentedControl
            aria-label="Time shown"
            size="xs"
            value={span}
            onChange={(v) => void navigate({ to: '/', search: { span: v === '24h' ? undefined : v }, replace: true, resetScroll: false })}
            data={Object.entries(spans).map(([value, s]) => ({ value, label: s.label }))}
          />
        </Group>
      </Group>
      <SimpleGrid cols={{ base: 2, md: 4 }} spacing="md">
        <SummaryCards query={stats} span={span} />
      </SimpleGrid>
      <div className={classes.columns}>
        <Stack gap="md" style={{ minWidth: 0 }}>
          <OpenIncidents />
          <RungsCard span={span} />
          <CallsAndSpend stats={stats} span={span} />
        </Stack>
        <LiveFeed />
      </div>
      <TopAgents stats={stats} span={span} />
    </Stack>
  )
}
