import { Button, Group, Skeleton, Stack, Text, Title } from '@mantine/core'
import { useTimeout } from '@mantine/hooks'
import { type ReactNode, useState } from 'react'
import { Problem, reason } from '../api/client'

interface Query<T> {
  data: T | undefined
  error: unknown
  refetch: () => unknown
  isPlaceholderData?: boolean
}

interface Props<T> {
  query: Query<T>
  /** what is loaded, for "Could not load {thing}" */
  thing: string
  /** whether it is all of a page, so that a failure has the heading */
  page?: boolean
  /** how many rows the placeholder has */
  rows?: number
  rowHeight?: number
  children: (data: T) => ReactNode
}

/** Loaded shows what a query answered, a placeholder of the same size before,
 *  and what went wrong otherwise. What is there stays when a later ask fails,
 *  and is pale while the answer to another question is on its way. */
export function Loaded<T>({ query, thing, page, rows = 3, rowHeight = 24, children }: Props<T>) {
  if (query.data !== undefined) {
    return (
      <div className="loaded" aria-busy={query.isPlaceholderData || undefined}>
        {children(query.data)}
      </div>
    )
  }
  const Failure = page ? PageLoadError : LoadError
  if (query.error) return <Failure thing={thing} error={query.error} retry={() => query.refetch()} />
  return <Placeholder rows={rows} height={rowHeight} />
}

interface Failed {
  thing: string
  error: unknown
  retry: () => unknown
}

function PageLoadError({ thing, error, retry }: Failed) {
  const unknown = error instanceof Problem && error.status === 404
  return (
    <Stack gap="sm" align="flex-start" role="alert">
      <Title order={1} style={{ overflowWrap: 'anywhere' }} maw="100%">
        {unknown ? `There is no ${thing}` : `Could not load ${thing}`}
      </Title>
      <Text c="dimmed">{reason(error)}</Text>
      <Button onClick={() => retry()}>Try again</Button>
    </Stack>
  )
}

export function LoadError({ thing, error, retry }: Failed) {
  return (
    <Group justify="space-between" role="alert" wrap="nowrap" py="xs">
      <Text size="sm">
        <b>Could not load {thing}.</b> {reason(error)}
      </Text>
      <Button onClick={() => retry()}>Try again</Button>
    </Group>
  )
}

/** Placeholder appears after 200 ms, so that quick answers do not flicker. */
export function Placeholder({ rows, height }: { rows: number; height: number }) {
  const [late, setLate] = useState(false)
  useTimeout(() => setLate(true), 200, { autoInvoke: true })
  return (
    <Stack gap="md" py="xs" aria-busy="true" aria-label="Loading" style={{ visibility: late ? 'visible' : 'hidden' }}>
      {Array.from({ length: rows }, (_, i) => (
        <Skeleton key={i} height={height} />
      ))}
    </Stack>
  )
}
