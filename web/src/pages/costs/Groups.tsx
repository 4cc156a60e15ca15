import { Table, Text } from '@mantine/core'
import { useQueries, useQuery } from '@tanstack/react-query'
import { agentsQuery } from '../../api/agents'
import { newestEvents } from '../../api/events'
import type { Agent, StatGroup } from '../../api/shapes'
import { count, money, percent, short } from '../../format/figures'
import { DayBudget } from '../../parts/DayBudget'
import { AgentLink } from '../../parts/links'
import { right, WideTable } from '../../parts/WideTable'

export type GroupKind = 'agent' | 'model' | 'provider'

/** atOnce is how many groups are asked for at once. */
export const atOnce = 25

/** Groups is the spend by agent, model or provider, the most expensive first. */
export function Groups({ groups, by, total }: { groups: StatGroup[]; by: GroupKind; total: number }) {
  const agents = useBudgets(by === 'agent' ? groups.map((g) => g.name) : [])
  return (
    <>
      <WideTable
        columns={[
          by === 'agent' ? 'Agent' : by === 'model' ? 'Model' : 'Provider',
          right('Spend'),
          right('Share'),
          right('Calls'),
          right('Prompt tokens'),
          right('Reply tokens'),
          by === 'agent' && { name: 'Hard budget today', width: 240 },
        ]}
        minWidth={720}
      >
        {groups.map((g) => (
          <Table.Tr key={g.name}>
            <Table.Td maw={320} style={{ overflowWrap: 'anywhere' }}>
              <Name name={g.name} by={by} />
            </Table.Td>
            <Table.Td ta="right" fw={600}>
              {money(g.cost_usd)}
            </Table.Td>
            <Table.Td ta="right" c="dimmed">
              {percent(g.cost_usd, total)}
            </Table.Td>
            <Table.Td ta="right">{count(g.calls)}</Table.Td>
            <Table.Td ta="right">{short(g.tokens.input)}</Table.Td>
            <Table.Td ta="right">{short(g.tokens.output)}</Table.Td>
            {by === 'agent' && (
              <Table.Td>
                <Budget agent={agents.get(g.name)} />
              </Table.Td>
            )}
          </Table.Tr>
        ))}
      </WideTable>
    </>
  )
}

function Name({ name, by }: { name: string; by: GroupKind }) {
  if (by === 'agent') return name ? <AgentLink id={name} /> : <span className="muted">no agent</span>
  return (
    <>
      <b>{name || 'unknown'}</b>
      {by === 'model' && name && <DefaultPrice model={name} />}
    </>
  )
}

// The newest call of a model tells whether the price table knows it.
function DefaultPrice({ model }: { model: string }) {
  const last = useQuery(newestEvents({ model, type: ['llm_call'] }, 1)).data?.rows[0]
  if (!last?.cost_default) return null
  return (
    <Text size="xs" c="var(--amber)">
      Priced by the default: {model} is not in the price table.
    </Text>
  )
}

// Agents are asked for many at once, in the portions in which they came.
function useBudgets(names: string[]): Map<string, Agent> {
  const portions: string[][] = []
  for (let at = 0; at < names.length; at += atOnce) portions.push(names.slice(at, at + atOnce).filter(Boolean))
  const found = useQueries({ queries: portions.map((ids) => agentsQuery(ids)) })
  return new Map(found.flatMap((q) => q.data?.agents ?? []).map((a) => [a.id, a]))
}

function Budget({ agent }: { agent: Agent | undefined }) {
  const day = agent?.spending.find((s) => s.period === 'day')
  return day ? <DayBudget spent={day.spent.cost_usd} soft={day.budget.soft_usd} hard={day.budget.hard_usd} /> : null
}
