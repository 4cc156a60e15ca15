import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { Link, useRouter } from '@tanstack/react-router'
import { reason } from '../api/client'

/** PageError stands where a page could not be shown at all. */
export function PageError({ error }: { error: unknown }) {
  const router = useRouter()
  return (
    <Stack maw={560} mx="auto" my={96} px="lg" gap="sm" role="alert">
      <Title order={1}>This page could not be shown</Title>
      <Text c="dimmed">{reason(error)}</Text>
      <Group>
        <Button onClick={() => void router.invalidate()}>Try again</Button>
      </Group>
    </Stack>
  )
}

export function PageNotFound() {
  return (
    <Stack maw={560} mx="auto" my={96} px="lg" gap="sm">
      <Title order={1}>There is no such page</Title>
      <Text c="dimmed">
        The address may be misspelt, or what it showed has been deleted. <Link to="/">Go to the overview</Link>
      </Text>
    </Stack>
  )
}
