import { Card, Group, Text, Title } from '@mantine/core'
import { type CSSProperties, type ReactNode, useId } from 'react'

interface Props {
  title: ReactNode
  /** said after the title, quieter */
  aside?: ReactNode
  /** at the right end of the title */
  actions?: ReactNode
  children: ReactNode
  style?: CSSProperties
}

/** Section is a card with a title. */
export function Section({ title, aside, actions, children, style }: Props) {
  const id = useId()
  return (
    <Card component="section" aria-labelledby={id} style={style}>
      <Group justify="space-between" mb="sm" gap="xs" mih={24}>
        <Group gap="xs" align="baseline" style={{ minWidth: 0 }}>
          <Title order={2} id={id}>
            {title}
          </Title>
          {aside !== undefined && (
            <Text component="span" size="xs" c="dimmed">
              {aside}
            </Text>
          )}
        </Group>
        {actions && (
          <Text component="div" size="sm" maw="100%" style={{ minWidth: 0 }}>
            {actions}
          </Text>
        )}
      </Group>
      {children}
    </Card>
  )
}
