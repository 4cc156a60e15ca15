import { Card, Group, SegmentedControl, Stack, Title } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { statsPages } from '../../api/agents'
import type { StatBucket } from '../../api/shapes'
import { count, money, short } from '../../format/figures'
import { Empty } from '../../parts/Empty'
import { Fact, Facts } from '../../parts/Facts'
import { Loaded } from '../../parts/Loaded'
import { More } from '../../parts/More'
import { Prices } from '../../parts/Prices'
import { Section } from '../../parts/Section'
import { TimeChart } from '../../parts/TimeChart'
import { useTitle } from '../../parts/useTitle'
import { sinceOf } from '../overview/span'
import { atOnce, Groups, type GroupKind } from './Groups'

const spans = {
  '24h': { label: '24 h', step: '1h', per: 'per hour' },
  '7d': { label: '7 d', step: '1d', per: 'per day' },
  '30d': { label: '30 d', step: '1d', per: 'per day' },
  '90d': { label: '90 d', step: '1d', per: 'per day' },
} as const

type Span = keyof typeof spans

/** Costs is where the money goes. */
export default function Costs() {
  const search = useSearch({ from: '/shell/costs' })
  const navigate = useNavigate()
  const span = search.span && search.span in spans ? (search.span as Span) : '30d'
  const by = (search.by as GroupKind | undefined) ?? 'agent'
  const show = (change: { span?: string; by?: GroupKind }) => void navigate({ to: '/costs', search: { span: search.span, by: search.by, ...change }, replace: true, resetScroll: false })
  const stats = useInfiniteQuery(statsPages({ since: sinceOf(span), step: spans[span].step, by }, atOnce))
  useTitle('Costs')
  return (
    <Stack gap="md">
      <Group justify="space-between">
        <Title order={1}>Costs</Title>
        <SegmentedControl
          aria-label="Time shown"
          size="xs"
          value={span}
          onChange={(v) => show({ span: v })}
          data={Object.entries(spans).map(([value, s]) => ({ value, label: s.label }))}
        />
      </Group>
      <Loaded query={stats} thing="costs" rows={3} rowHeight={96}>
        {({ pages }) => {
          const data = pages[0]!
          // Who has spent more meanwhile may be on two pages.
          const groups = [...new Map(pages.flatMap((p) => p.groups ?? []).map((g) => [g.name, g])).values()]
          return data.totals.calls === 0 ? (
            <Card>
              <Empty title="No spend in this time" />
            </Card>
          ) : (
            <Stack gap="md">
              <Facts>
                <Fact name="Spend">{money(data.totals.cost_usd)}</Fact>
                <Fact name="Calls" aside={data.totals.blocked > 0 ? `${count(data.totals.blocked)} of them blocked` : undefined}>
                  {count(data.totals.calls)}
                </Fact>
                <Fact name="Average per forwarded call">{money(data.totals.cost_usd / Math.max(data.totals.calls - data.totals.blocked, 1))}</Fact>
                <Fact name="Prompt tokens" aside={`${short(data.totals.tokens.cache_read)} from cache`}>
                  {short(data.totals.tokens.input)}
                </Fact>
                <Fact name="Reply tokens">{short(data.totals.tokens.output)}</Fact>
              </Facts>
              <Section title="Spend" aside={`USD ${spans[span].per}`}>
                <TimeChart<StatBucket>
                  label={`Spend in dollars ${spans[span].per}`}
                  rows={data.buckets}
                  start={(b) => b.start}
                  shape="bars"
                  series={[{ name: 'spend', value: (b) => b.cost_usd, color: 'var(--s2)' }]}
                  format={money}
                  height={200}
                />
              </Section>
              <Section
                title={`By ${by}`}
                aside={`${count(data.group_count)} in total`}
                actions={
                  <SegmentedControl
                    aria-label="Grouped by"
                    size="xs"
                    value={by}
                    onChange={(v) => show({ by: v as GroupKind })}
                    data={[
                      { value: 'agent', label: 'Agent' },
                      { value: 'model', label: 'Model' },
                      { value: 'provider', label: 'Provider' },
                    ]}
                  />
                }
              >
                <Groups groups={groups.filter((g) => g.calls > 0)} by={by} total={data.totals.cost_usd} />
                <More query={stats} shown={groups.length} of={data.group_count} />
                <Prices />
              </Section>
            </Stack>
          )
        }}
      </Loaded>
    </Stack>
  )
}
