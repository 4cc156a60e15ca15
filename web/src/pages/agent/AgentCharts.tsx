import { Group, SegmentedControl, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { statsQuery } from '../../api/agents'
import { newestEvents } from '../../api/events'
import type { AgentDetail, Event, StatBucket } from '../../api/shapes'
import { count, money, score, short } from '../../format/figures'
import { Empty } from '../../parts/Empty'
import { EventDrawer } from '../../parts/EventDrawer'
import { Loaded } from '../../parts/Loaded'
import { Section } from '../../parts/Section'
import { TimeChart } from '../../parts/TimeChart'
import { ScoreChart } from './ScoreChart'

const charts = {
  score: { label: 'Score', title: 'Score against threshold', aside: 'each call' },
  calls: { label: 'Calls', title: 'Calls', aside: 'per hour, 24 h' },
  tokens: { label: 'Tokens', title: 'Tokens', aside: 'per hour, 24 h' },
  cost: { label: 'Cost', title: 'Cost', aside: 'USD per hour, 24 h' },
} as const

type Chart = keyof typeof charts

const height = 336

/** AgentCharts shows one measure at a time. */
export function AgentCharts({ agent }: { agent: AgentDetail }) {
  const [chart, setChart] = useState<Chart>('score')
  return (
    <Section
      title={charts[chart].title}
      aside={charts[chart].aside}
      actions={
        <SegmentedControl
          aria-label="Measure"
          size="xs"
          value={chart}
          onChange={(v) => setChart(v as Chart)}
          data={Object.entries(charts).map(([value, c]) => ({ value, label: c.label }))}
        />
      }
    >
      {chart === 'score' ? <Scores agent={agent} /> : <Sums agent={agent} chart={chart} />}
    </Section>
  )
}

const shown = 240

function Scores({ agent }: { agent: AgentDetail }) {
  const query = useQuery(newestEvents({ agent: agent.id, type: ['llm_call', 'kill_switch'] }, shown))
  const [open, setOpen] = useState<Event>()
  const threshold = agent.policy.kill_switch.threshold
  return (
    <Loaded query={query} thing="scores" rows={1} rowHeight={height}>
      {(page) => {
        const calls = page.rows.toReversed()
        if (calls.length === 0) return <Empty title="No call yet">The score of each call appears here.</Empty>
        const half = calls.filter((c) => c.score > threshold / 2).length
        return (
          <>
            <ScoreChart calls={calls} threshold={threshold} onOpen={setOpen} />
            <Group gap="lg" mt="sm" fz={13}>
              <Text inherit c="dimmed">
                Peak: <b style={{ color: 'var(--text)' }}>{score(Math.max(...calls.map((c) => c.score)))}</b>
              </Text>
              <Text inherit c="dimmed">
                Calls above half the threshold: <b style={{ color: 'var(--text)' }}>{count(half)} of {count(calls.length)}</b>
              </Text>
            </Group>
            <EventDrawer event={open} onClose={() => setOpen(undefined)} />
          </>
        )
      }}
    </Loaded>
  )
}

function Sums({ agent, chart }: { agent: AgentDetail; chart: Exclude<Chart, 'score'> }) {
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
          height={height}
        />
      )}
    </Loaded>
  )
}
