import { Button, Group, Modal, SegmentedControl, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { minute, zone } from '../format/time'
import { useNow } from './useNow'

interface Props {
  /** who is resumed; undefined while the question is not asked */
  name: string | undefined
  /** the grace that is chosen first */
  grace?: number
  busy: boolean
  onCancel: () => void
  onResume: (graceMinutes: number) => void
}

const choices = [
  { value: '0', label: 'None' },
  { value: '10', label: '10 min' },
  { value: '30', label: '30 min' },
  { value: '120', label: '2 h' },
  { value: '480', label: '8 h' },
]

/** Resume asks how an agent or session is to go on. Enter confirms. */
export function Resume({ name, grace = 0, busy, onCancel, onResume }: Props) {
  return (
    <Modal opened={name !== undefined} onClose={onCancel} title={`Resume ${name ?? ''}${grace > 0 ? ' with grace' : ''}`}>
      {name !== undefined && <Question first={grace} busy={busy} onCancel={onCancel} onResume={onResume} />}
    </Modal>
  )
}

function Question({ first, busy, onCancel, onResume }: { first: number; busy: boolean; onCancel: () => void; onResume: (m: number) => void }) {
  const [chosen, choose] = useState(String(first))
  const now = useNow()
  const minutes = Number(chosen)
  return (
    <Stack gap="md">
      <Text size="sm" c="dimmed">
        Lets it call again; earlier repeats no longer count.
        {minutes > 0 ? ' Detectors only warn until the grace ends; budgets, hours and rates still hold.' : ' Active from the next call.'}
      </Text>
      <div>
        <Text size="xs" c="dimmed" mb={4} id="grace">
          Grace
        </Text>
        <SegmentedControl aria-labelledby="grace" size="xs" data={choices} value={chosen} onChange={choose} />
      </div>
      <Group justify="flex-end">
        <Button variant="subtle" color="gray" onClick={onCancel}>
          Cancel
        </Button>
        <Button variant="filled" data-autofocus loading={busy} onClick={() => onResume(minutes)}>
          {minutes > 0 ? `Resume, grace until ${minute(now + minutes * 60_000)} ${zone(now + minutes * 60_000)}` : 'Resume'}
        </Button>
      </Group>
    </Stack>
  )
}
