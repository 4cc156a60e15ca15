import { Card, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { api, read } from '../../api/client'
import type { Stats } from '../../api/shapes'
import { count, money, percent, short, times } from '../../format/figures'
import { Sparkline } from '../../parts/Sparkline'
import { useSavings } from './savings'
import { type Span, spans } from './span'
import classes from './overview.module.css'

const most = 200

/** SummaryCards are the four figures on top. */
export function SummaryCards({ stats, span }: { stats: Stats | undefined; span: Span }) {
  return (
    <>
      <Agents calling={stats?.groups?.length} />
      <Summary name="Calls" figure={stats && count(stats.totals.calls)}>
        {stats && (
          <>
            <Sparkline values={stats.buckets.map((b) => b.calls)} width={240} height={16} label="Calls over time" />
            <div className={classes.caption}>
              {count(stats.totals.blocked)} blocked, {percent(stats.totals.blocked, stats.totals.calls)}
            </div>
          </>
        )}
      </Summary>
      <Summary name="Spend" figure={stats && money(stats.totals.cost_usd)}>
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

function Agents({ calling }: { calling: number | undefined }) {
  const { data } = useQuery({
    queryKey: ['agents', 'off'],
    queryFn: () => read(api.GET('/v1/agents', { params: { query: { active: 'false', limit: most } } })),
  })
  const killed = data?.agents.filter((a) => a.deactivated_by === 'kill_switch').length ?? 0
  const off = (data?.agents.length ?? 0) - killed
  const more = data?.next ? '+' : ''
  return (
    <Summary name="Agents calling" figure={calling === undefined ? undefined : count(calling)}>
      <div className={classes.segments} aria-hidden="true">
        {calling !== undefined && calling > 0 && <div style={{ flex: calling, background: 'var(--green-fill)' }} />}
        {killed > 0 && <div style={{ flex: killed, background: 'var(--red-fill)' }} />}
        {off > 0 && <div style={{ flex: off, background: 'var(--gray-fill)' }} />}
      </div>
      <div className={classes.caption}>
        {killed + off === 0 ? (
          'none is switched off'
        ) : (
          <>
            {killed > 0 && <Text span inherit c="var(--red)">{killed}{more} killed</Text>} {off > 0 && `${off}${more} inactive`}
          </>
        )}
      </div>
    </Summary>
  )
}

function Saved({ span }: { span: Span }) {
  const savings = useSavings(span)
  const kills = savings?.kills ?? 0
  return (
    <Summary name="Saved, estimate" figure={savings && money(savings.usd)} color="var(--green)">
      <div className={classes.caption} style={{ marginTop: 4 }}>
        {kills === 0 ? `no kill in ${spans[span].label}` : `${times(kills, 'kill')}${savings?.more ? ' or more' : ''}, counted to the hard budget`}
      </div>
      {savings && kills > savings.counted && (
        <div className={classes.caption}>{times(kills - savings.counted, 'agent')} without a hard budget not counted</div>
      )}
    </Summary>
  )
}

function Summary({ name, figure, color, children }: { name: string; figure: string | undefined; color?: string; children: ReactNode }) {
  return (
    <Card>
      <Text size="sm" c="dimmed">
        {name}
      </Text>
      <div className={classes.figure} style={{ color }}>
        {figure ?? ' '}
      </div>
      {children}
    </Card>
  )
}
