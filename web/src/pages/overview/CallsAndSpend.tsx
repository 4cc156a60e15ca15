import { Group, Stack, Text } from '@mantine/core'
import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import { savingsQuery } from '../../api/incidents'
import type { StatBucket, Stats } from '../../api/shapes'
import { money, short } from '../../format/figures'
import { minute } from '../../format/time'
import { Loaded } from '../../parts/Loaded'
import { Section } from '../../parts/Section'
import { TimeChart } from '../../parts/TimeChart'
import { sinceOf, type Span, spans } from './span'

/** CallsAndSpend is two charts over one time axis: never two y axes. */
export function CallsAndSpend({ stats, span }: { stats: UseQueryResult<Stats>; span: Span }) {
  const stops = useQuery(savingsQuery(sinceOf(span))).data?.stops ?? []
  const marks = stops.map((s, n) => ({ at: s.time, label: n === 0 ? `${s.agent} stopped, ${minute(s.time)}` : undefined }))
  return (
    <Section
      title="Calls and spend"
      actions={
        <Group gap="sm">
          <Legend color="var(--s2)" word="allowed" />
          <Legend color="var(--red-fill)" word="blocked" />
        </Group>
      }
    >
      <Loaded query={stats} thing="calls and spend" rows={2} rowHeight={120}>
        {(data) => (
          <Stack gap="xs">
            <Name word="Calls" unit={spans[span].per} />
            <TimeChart<StatBucket>
              label={`Calls ${spans[span].per}, allowed and blocked`}
              rows={data.buckets}
              start={(b) => b.start}
              shape="bars"
              series={[
                { name: 'allowed', value: (b) => b.calls - b.blocked, color: 'var(--s2)' },
                { name: 'blocked', value: (b) => b.blocked, color: 'var(--red-fill)' },
              ]}
              format={short}
              least={1}
              height={144}
              marks={marks}
              withTime={false}
            />
            <Name word="Spend" unit={`USD ${spans[span].per}`} />
            <TimeChart<StatBucket>
              label={`Spend in dollars ${spans[span].per}`}
              rows={data.buckets}
              start={(b) => b.start}
              shape="area"
              series={[{ name: 'spend', value: (b) => b.cost_usd, color: 'var(--accent)' }]}
              format={money}
              height={152}
              marks={marks.map(({ at }) => ({ at }))}
            />
          </Stack>
        )}
      </Loaded>
    </Section>
  )
}

function Name({ word, unit }: { word: string; unit: string }) {
  return (
    <Text size="xs">
      <b>{word}</b> <span className="muted">{unit}</span>
    </Text>
  )
}

function Legend({ color, word }: { color: string; word: string }) {
  return (
    <Group gap={6}>
      <span style={{ width: 8, height: 8, borderRadius: 2, background: color }} aria-hidden="true" />
      <Text size="xs" c="dimmed">
        {word}
      </Text>
    </Group>
  )
}
