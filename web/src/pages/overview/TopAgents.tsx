import { Table } from '@mantine/core'
import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Agent, StatGroup, Stats } from '../../api/shapes'
import { count, money } from '../../format/figures'
import { Ago } from '../../parts/Ago'
import { AgentBadge } from '../../parts/AgentState'
import { DayBudget } from '../../parts/DayBudget'
import { Empty } from '../../parts/Empty'
import { AgentLink } from '../../parts/links'
import { Loaded } from '../../parts/Loaded'
import { Section } from '../../parts/Section'
import { Sparkline } from '../../parts/Sparkline'
import { top, topAgents } from './ask'
import { type Span, spans } from './span'
import { plain, right, WideTable } from '../../parts/WideTable'

/** TopAgents are those that spent the most. */
export function TopAgents({ stats, span }: { stats: UseQueryResult<Stats>; span: Span }) {
  const agents = useQuery({ ...topAgents(stats.data), enabled: stats.data !== undefined }).data?.agents
  return (
    <Section title="Top agents" aside={`by spend, ${spans[span].label}`} actions={<Link to="/agents">All agents</Link>}>
      <Loaded query={stats} thing="agents" rows={top}>
        {(data) =>
          (data.groups ?? []).length === 0 ? (
            <Empty title="No call in this time" />
          ) : (
            <WideTable
              columns={[
                'Agent',
                plain('State'),
                right('Calls'),
                right('Spend'),
                { name: 'Daily hard budget', width: 240 },
                `Calls, ${spans[span].label}`,
                right('Last call'),
              ]}
              minWidth={880}
            >
              {(data.groups ?? []).map((g) => (
                <Row key={g.name} group={g} agent={agents?.find((a) => a.id === g.name)} />
              ))}
            </WideTable>
          )
        }
      </Loaded>
    </Section>
  )
}

function Row({ group, agent }: { group: StatGroup; agent: Agent | undefined }) {
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
      <Table.Td>{group.series && <Sparkline values={group.series} label={`Calls of ${group.name}`} />}</Table.Td>
      <Table.Td ta="right" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
        {agent && <Ago time={agent.last_seen} />}
      </Table.Td>
    </Table.Tr>
  )
}
