import { Button, Checkbox, Group, Modal, Stack, Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import { BlockStatus } from '../../parts/BlockStatus'

interface Props {
  name: string
  opened: boolean
  busy: boolean
  onCancel: () => void
  onDeactivate: (reason: string, now: boolean) => void
}

/** Deactivate asks before an agent is switched off by hand. */
export function Deactivate({ name, opened, busy, onCancel, onDeactivate }: Props) {
  const [reason, setReason] = useState('')
  const [now, setNow] = useState(false)
  return (
    <Modal opened={opened} onClose={onCancel} title={`Stop ${name}`}>
      <Stack gap="md">
        <Text size="sm" c="dimmed">
          Every further call gets the inactive answer (<BlockStatus />) until somebody resumes it.
        </Text>
        <Textarea
          label="Reason (optional)"
          description="Kept in the record."
          maxLength={500}
          value={reason}
          onChange={(e) => setReason(e.currentTarget.value)}
          data-autofocus
        />
        <Checkbox label="Cut the calls in flight, too" checked={now} onChange={(e) => setNow(e.currentTarget.checked)} />
        <Group justify="flex-end">
          <Button variant="subtle" color="gray" onClick={onCancel}>
            Cancel
          </Button>
          <Button variant="filled" color="red" loading={busy} onClick={() => onDeactivate(reason.trim(), now)}>
            Stop now
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
