import { Button, Group } from '@mantine/core'

interface Pages {
  hasNextPage: boolean
  isFetchingNextPage: boolean
  fetchNextPage: () => unknown
}

/** More asks for the next page of a listing. */
export function More({ query }: { query: Pages }) {
  if (!query.hasNextPage) return null
  return (
    <Group justify="center" mt="md">
      <Button loading={query.isFetchingNextPage} onClick={() => query.fetchNextPage()}>
        Show more
      </Button>
    </Group>
  )
}
