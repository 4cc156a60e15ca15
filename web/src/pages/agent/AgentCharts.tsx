import { Group, SegmentedControl, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { statsQuery } from '../../api/agents'
import { newestEvents } from '../../api/events'
import type { AgentDetail, Event, StatBucket } from '../../api/shapes'
import { money, short, times } from '../../format/figures'
import { Empty } from '../../parts/Empty'
import { EventDrawer } from '../../parts/EventDrawer'
import { Loaded } from '../../parts/Loaded'
import { Section } from '../../parts/Section'
import { TimeChart } from '../../parts/TimeChart'
import classes from './agent.module.css'
import { certaintyGauge, scoreGauge } from './gauge'
import { GaugeChart } from './GaugeChart'

const charts = {
  certainty: { label: 'Certainty', title: 'Certainty that it is stuck', aside: 'each call, 0 to 100 %' },
  score: { label: 'Similarity', title: 'Similarity score', aside: 'each call' },
  calls: { label: 'Calls', title: 'Calls', aside: 'per hour, 24 h' },
  tokens: { label: 'Tokens', title: 'Tokens', aside: 'per hour, 24 h' },
  cost: { label: 'Cost', title: 'Cost', aside: 'USD per hour, 24 h' },
} as const

type Chart = keyof typeof charts

const height = 336

/** AgentCharts shows one measure at a time. */
export function AgentCharts({ agent }: { agent: AgentDetail }) {
  const asked = useSearch({ from: '/shell/agents/$id' }).chart
  const chart = asked && asked in charts ? (asked as Chart) : 'certainty'
  const navigate = useNavigate()
  return (
    <Section
      title={charts[chart].title}
      aside={charts[chart].aside}
      actions={
        <SegmentedControl
          aria-label="Measure"
          classNames={{ label: classes.measure }}
          size="xs"
          value={chart}
          onChange={(v) => void navigate({ to: '.', search: { chart: v === 'certainty' ? undefined : v }, replace: true, resetScroll: false })}
          data={Object.entries(charts).map(([value, c]) => ({ value, label: c.label }))}
        />
      }
    >
      {chart === 'score' || chart === 'certainty' ? <Judged agent={agent} of={chart} /> : <Sums agent={agent} chart={chart} />}
    </Section>
  )
}

const shown = 240

function Judged({ agent, of }: { agent: AgentDetail; of: 'certainty' | 'score' }) {
  const query = useQuery(newestEvents({ agent: agent.id, type: ['llm_call', 'kill_switch'] }, shown))
  const [open, setOpen] = useState<Event>()
  const gauge = of === 'certainty' ? certaintyGauge(agent) : scoreGauge(agent)
  return (
    <Loaded query={query} thing={of === 'certainty' ? 'certainties' : 'scores'} rows={1} rowHeight={height}>
      {(page) => {
        const calls = page.rows.toReversed()
        if (calls.length === 0) return <Empty title="No call yet">The {of === 'certainty' ? 'certainty' : 'score'} of each call appears here.</Empty>
        const values = calls.map(gauge.of)
        const stops = calls.filter((c) => c.event_type === 'kill_switch' && !c.shadow).length
        return (
          <>
            <GaugeChart calls={calls} gauge={gauge} onOpen={setOpen} />
            <Group gap="lg" mt="sm" fz={13}>
              <Text inherit c="dimmed">
                Peak: <b style={{ color: 'var(--text)' }}>{gauge.write(Math.max(...values))}</b>
              </Text>
              <Text inherit c="dimmed">
                Stopped: <b style={{ color: 'var(--text)' }}>{stops === 0 ? 'never' : times(stops, 'time')}</b> in the last {times(calls.length, 'call')}
              </Text>
            </Group>
            {of === 'score' && (
              <Text size="xs" c="dimmed" mt={4}>
                {agent.policy.kill_switch.require_corroboration
                  ? 'A score above the threshold stops nothing by itself: a second signal has to agree. Calls where none did are grey.'
                  : 'With the Kill Switch on, a score above the threshold stops the agent.'}
              </Text>
            )}
            <EventDrawer event={open} onClose={() => setOpen(undefined)} />
          </>
        )
      }}
    </Loaded>
  )
}

function Sums({ agent, chart }: { agent: AgentDetail; chart: Exclude<Chart, 'score' | 'certainty'> }) {
  const query = useQuery(statsQuery({ since: '24h', step: '1h', agent: agent.id }))
  const series = {
    calls: [
      { name: 'allowed', value: (b: StatBucket) => b.calls - b.blocked, color: 'var(--s2)' },
      { name: 'blocked', value: (b: StatBucket) => b.blocked, color: 'var(--red-fill)' },
    ],
    tokens: [
      { name: 'prompt', value: (b: StatBucket) => b.tokens.input, color: 'var(--s2)' },
      { name: 'reply', value: (b: StatBucket) => b.tokens.output, color: 'var(--s1)' },
    ],
    cost: [{ name: 'cost', value: (b: StatBucket) => b.cost_usd, color: 'var(--accent)' }],
  }
  return (
    <Loaded query={query} thing={charts[chart].label.toLowerCase()} rows={1} rowHeight={height}>
      {(data) => (
        <TimeChart<StatBucket>
          label={`${charts[chart].title} ${charts[chart].aside}`}
          rows={data.buckets}
          start={(b) => b.start}
          shape={chart === 'cost' ? 'area' : 'bars'}
          series={series[chart]}
          format={chart === 'cost' ? money : short}
          least={chart === 'cost' ? undefined : 1}
          height={height}
        />
      )}
    </Loaded>
  )
}
