import { Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'

/** Empty says why there is nothing, and what to do about it. */
export function Empty({ icon, title, children, action }: { icon?: ReactNode; title: string; children?: ReactNode; action?: ReactNode }) {
  return (
    <Stack align="center" gap={4} py="lg" ta="center">
      {icon && <span className="muted" aria-hidden="true">{icon}</span>}
      <Text fw={600}>{title}</Text>
      {children && (
        <Text size="sm" c="dimmed" maw={440}>
          {children}
        </Text>
      )}
      {action && <div style={{ marginTop: 8 }}>{action}</div>}
    </Stack>
  )
}
