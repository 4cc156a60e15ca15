import { Button, Code, Group, Modal, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Copy } from './Copy'

interface Props {
  title: string
  /** the word for it, as in "Copy the key" */
  what: string
  secret: string
  /** what it is for */
  children: ReactNode
  onClose: () => void
}

/** ShownOnce is a secret that haltd keeps only the hash of: a click beside it
 *  must not lose it. */
export function ShownOnce({ title, what, secret, children, onClose }: Props) {
  return (
    <Modal opened onClose={onClose} title={title} closeOnClickOutside={false}>
      <Stack gap="md">
        <Text size="sm" c="dimmed">
          {children} It is shown this once.
        </Text>
        <Code block style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
          {secret}
        </Code>
        <Group justify="flex-end" gap="xs">
          <Copy text={secret} what={what} />
          <Button variant="filled" onClick={onClose}>
            Done
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
