import { Text } from '@mantine/core'
import { money, percent } from '../format/figures'
import { BudgetBar } from './BudgetBar'

/** DayBudget is a hard budget of the day in one line of a table. */
export function DayBudget({ spent, soft, hard }: { spent: number; soft: number; hard: number }) {
  if (hard === 0) {
    return (
      <Text span size="xs" c="dimmed">
        none
      </Text>
    )
  }
  return (
    <div style={{ display: 'grid', gridTemplateColumns: '1fr auto', gap: 12, alignItems: 'center' }}>
      <BudgetBar spent={spent} soft={soft} hard={hard} label={`${percent(spent, hard)} of ${money(hard)} today`} height={6} />
      <Text span size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
        {percent(spent, hard)} of {money(hard)}
      </Text>
    </div>
  )
}
