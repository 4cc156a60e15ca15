import { Table } from '@mantine/core'
import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { agentQuery, statsQuery } from '../../api/agents'
import type { StatGroup, Stats } from '../../api/shapes'
import { count, money } from '../../format/figures'
import { ago } from '../../format/time'
import { AgentBadge } from '../../parts/AgentState'
import { DayBudget } from '../../parts/DayBudget'
import { Empty } from '../../parts/Empty'
import { AgentLink } from '../../parts/links'
import { Loaded } from '../../parts/Loaded'
import { Section } from '../../parts/Section'
import { Sparkline } from '../../parts/Sparkline'
import { useNow } from '../../parts/useNow'
import { type Span, spans } from './span'
import { right, WideTable } from '../../parts/WideTable'

const shown = 6

/** TopAgents are those that spent the most. */
export function TopAgents({ stats, span }: { stats: UseQueryResult<Stats>; span: Span }) {
  return (
    <Section title="Top agents" aside={`by spend, ${spans[span].label}`} actions={<Link to="/agents">All agents</Link>}>
      <Loaded query={stats} thing="agents" rows={shown}>
        {(data) =>
          (data.groups ?? []).length === 0 ? (
            <Empty title="No call in this time" />
          ) : (
            <WideTable
              columns={[
                'Agent',
                'State',
                right('Calls'),
                right('Spend'),
                { name: 'Daily hard budget', width: 240 },
                `Calls, ${spans[span].label}`,
                right('Last call'),
              ]}
              minWidth={880}
            >
              {(data.groups ?? []).slice(0, shown).map((g) => (
                <Row key={g.name} group={g} span={span} />
              ))}
            </WideTable>
          )
        }
      </Loaded>
    </Section>
  )
}

function Row({ group, span }: { group: StatGroup; span: Span }) {
  const now = useNow()
  const agent = useQuery(agentQuery(group.name)).data
  const calls = useQuery(statsQuery({ since: span, step: spans[span].step, agent: group.name })).data
  const day = agent?.spending.find((s) => s.period === 'day')
  return (
    <Table.Tr>
      <Table.Td maw={240} className="clip">
        <AgentLink id={group.name} />
      </Table.Td>
      <Table.Td>{agent && <AgentBadge agent={agent} />}</Table.Td>
      <Table.Td ta="right">{count(group.calls)}</Table.Td>
      <Table.Td ta="right">{money(group.cost_usd)}</Table.Td>
      <Table.Td>{day && <DayBudget spent={day.spent.cost_usd} soft={day.budget.soft_usd} hard={day.budget.hard_usd} />}</Table.Td>
      <Table.Td>{calls && <Sparkline values={calls.buckets.map((b) => b.calls)} label={`Calls of ${group.name}`} />}</Table.Td>
      <Table.Td ta="right" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
        {agent && ago(agent.last_seen, now)}
      </Table.Td>
    </Table.Tr>
  )
}
