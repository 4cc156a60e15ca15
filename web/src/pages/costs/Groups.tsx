import { Button, Group, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { agentQuery } from '../../api/agents'
import { newestEvents } from '../../api/events'
import type { StatGroup } from '../../api/shapes'
import { count, money, percent, short } from '../../format/figures'
import { DayBudget } from '../../parts/DayBudget'
import { AgentLink } from '../../parts/links'
import { right, WideTable } from '../../parts/WideTable'

export type GroupKind = 'agent' | 'model' | 'provider'

const atOnce = 25

/** Groups is the spend by agent, model or provider, the most expensive first. */
export function Groups({ groups, by, total }: { groups: StatGroup[]; by: GroupKind; total: number }) {
  const [shown, setShown] = useState(atOnce)
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
        minWidth={800}
      >
        {groups.slice(0, shown).map((g) => (
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
                <Budget agent={g.name} />
              </Table.Td>
            )}
          </Table.Tr>
        ))}
      </WideTable>
      {groups.length > shown && (
        <Group justify="center" mt="md">
          <Button onClick={() => setShown(shown + atOnce)}>Show more</Button>
        </Group>
      )}
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

function Budget({ agent }: { agent: string }) {
  const day = useQuery(agentQuery(agent)).data?.spending.find((s) => s.period === 'day')
  return day ? <DayBudget spent={day.spent.cost_usd} soft={day.budget.soft_usd} hard={day.budget.hard_usd} /> : null
}
