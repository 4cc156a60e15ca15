import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { Link, useRouter } from '@tanstack/react-router'
import { Placeholder } from './Loaded'
import { Problem, reason } from '../api/client'
import { useTitle } from './useTitle'

/** PageError stands where a page could not be shown at all. */
export function PageError({ error }: { error: unknown }) {
  const router = useRouter()
  // Not every browser fetches a second time what it could not have.
  const again = async () => {
    const away = error instanceof Problem && error.code === 'unreachable'
    if (away && (await fetch('/healthz').then((answer) => answer.ok, () => false))) window.location.reload()
    else await router.invalidate()
  }
  return (
    <Stack maw={560} mx="auto" my={96} px="lg" gap="sm" role="alert">
      <Title order={1}>This page could not be shown</Title>
      <Text c="dimmed">{reason(error)}</Text>
      <Group>
        <Button onClick={() => void again()}>Try again</Button>
      </Group>
    </Stack>
  )
}

/** PagePending stands where a page will be, once haltd has answered. */
export function PagePending() {
  return (
    <div style={{ maxWidth: 1232, margin: '0 auto', padding: 24 }}>
      <Placeholder rows={4} height={96} />
    </div>
  )
}

export function PageNotFound() {
  useTitle('No such page')
  return (
    <Stack maw={560} mx="auto" my={96} px="lg" gap="sm">
      <Title order={1}>There is no such page</Title>
      <Text c="dimmed">
        The address may be misspelt, or what it showed has been deleted. <Link to="/">Go to the overview</Link>
      </Text>
    </Stack>
  )
}
