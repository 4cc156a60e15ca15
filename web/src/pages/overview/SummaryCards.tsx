import { Card, Skeleton, Text } from '@mantine/core'
import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { agentsQuery } from '../../api/agents'
import { savingsQuery } from '../../api/incidents'
import type { Stats } from '../../api/shapes'
import { count, money, percent, short, times } from '../../format/figures'
import { Sparkline } from '../../parts/Sparkline'
import { sinceOf, type Span, spans } from './span'
import classes from './overview.module.css'

/** SummaryCards are the four figures on top. */
export function SummaryCards({ query, span }: { query: UseQueryResult<Stats>; span: Span }) {
  const stats = query.data
  const failed = query.isError
  return (
    <>
      <Agents stats={stats} failed={failed} />
      <Summary name="Calls" failed={failed} figure={stats && count(stats.totals.calls)}>
        {stats && (
          <>
            <Sparkline values={stats.buckets.map((b) => b.calls)} width={240} height={16} label="Calls over time" />
            <div className={classes.caption}>
              {count(stats.totals.blocked)} blocked, {percent(stats.totals.blocked, stats.totals.calls)}
            </div>
          </>
        )}
      </Summary>
      <Summary name="Spend" failed={failed} figure={stats && money(stats.totals.cost_usd)}>
        {stats && (
          <>
            <Sparkline values={stats.buckets.map((b) => b.cost_usd)} width={240} height={16} label="Spend over time" />
            <div className={classes.caption}>
              {short(stats.totals.tokens.input)} tokens in, {short(stats.totals.tokens.output)} out
            </div>
          </>
        )}
      </Summary>
      <Saved span={span} />
    </>
  )
}

function Agents({ stats, failed }: { stats: Stats | undefined; failed: boolean }) {
  const calling = stats?.group_count
  const counts = useQuery({ ...agentsQuery((stats?.groups ?? []).map((g) => g.name)), enabled: stats !== undefined }).data?.counts
  const { active = 0, stopped = 0, inactive = 0 } = counts ?? {}
  return (
    <Summary name="Agents calling" failed={failed} figure={calling === undefined ? undefined : count(calling)}>
      <div className={classes.segments} aria-hidden="true">
        {active > 0 && <div style={{ flex: active, background: 'var(--green-fill)' }} />}
        {stopped > 0 && <div style={{ flex: stopped, background: 'var(--red-fill)' }} />}
        {inactive > 0 && <div style={{ flex: inactive, background: 'var(--gray-fill)' }} />}
      </div>
      <div className={classes.caption}>
        {counts && `of ${count(active + stopped + inactive)}: `}
        {!counts ? (
          <Waits failed={failed} />
        ) : stopped + inactive === 0 ? (
          'none stopped'
        ) : (
          <>
            {stopped > 0 && <Text span inherit c="var(--red)">{count(stopped)} stopped</Text>}
            {stopped > 0 && inactive > 0 && ', '}
            {inactive > 0 && `${count(inactive)} inactive`}
          </>
        )}
      </div>
    </Summary>
  )
}

function Saved({ span }: { span: Span }) {
  const { data: savings, isError } = useQuery(savingsQuery(sinceOf(span)))
  const stops = savings?.stops.length ?? 0
  const counted = savings?.counted ?? 0
  return (
    <Summary name="Saved, estimate" failed={isError} figure={savings && money(savings.saved_usd)} color="var(--green)">
      <div className={classes.caption} style={{ marginTop: 4 }}>
        {!savings ? <Waits failed={isError} /> : stops === 0 ? `nothing stopped in ${spans[span].label}` : counted > 0 && `${times(counted, 'stop')}: what was left of hard budgets`}
      </div>
      {stops > counted && (
        <div className={classes.caption}>
          {times(stops - counted, counted > 0 ? 'other stop' : 'stop')}
          {savings?.more ? ' or more' : ''} without a hard budget
        </div>
      )}
    </Summary>
  )
}

// Before the answer is there, nothing is said that the answer could belie.
function Waits({ failed }: { failed: boolean }) {
  return failed ? 'could not be loaded' : <Skeleton height={12} width={120} component="span" display="block" />
}

function Summary({ name, figure, failed, color, children }: { name: string; figure: string | undefined; failed: boolean; color?: string; children: ReactNode }) {
  return (
    <Card>
      <Text size="sm" c="dimmed">
        {name}
      </Text>
      <div className={classes.figure} style={{ color }}>
        {figure ?? (failed ? '–' : <Skeleton height={24} width={96} />)}
      </div>
      {children}
    </Card>
  )
}
