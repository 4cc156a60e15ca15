import { Text } from '@mantine/core'
import type { Delivery } from '../api/shapes'
import { times } from '../format/figures'
import { brief } from '../format/time'

const tries = 8

/** DeliveryState is how far a delivery has come. */
export function DeliveryState({ delivery: d }: { delivery: Delivery }) {
  if (d.status === 'delivered') return <Said color="var(--green)" word={`delivered ${brief(d.updated_at)}`} />
  if (d.status === 'dead') return <Said color="var(--red)" word={`given up after ${times(d.attempts, 'try', 'tries')}`} />
  if (d.status === 'dismissed') return <Said color="var(--mantine-color-dimmed)" word="given up and dismissed" />
  return <Said color="var(--amber)" word={d.attempts === 0 ? 'on its way' : `try ${d.attempts} of ${tries} failed, next ${brief(d.next_at)}`} />
}

function Said({ color, word }: { color: string; word: string }) {
  return (
    <Text span size="xs" c={color} style={{ whiteSpace: 'nowrap' }}>
      {word}
    </Text>
  )
}
