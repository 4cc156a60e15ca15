import { Button, Group, Text } from '@mantine/core'
import { count } from '../format/figures'

interface Pages {
  hasNextPage: boolean
  isFetchingNextPage: boolean
  fetchNextPage: () => unknown
}

/** More asks for the next page of a listing, and says how many rows there are
 *  where that is known. */
export function More({ query, shown, of }: { query: Pages; shown?: number; of?: number }) {
  if (!query.hasNextPage) return null
  return (
    <Group justify="center" mt="md">
      {shown !== undefined && of !== undefined && of > shown && (
        <Text size="sm" c="dimmed">
          {count(shown)} of {count(of)}
        </Text>
      )}
      <Button loading={query.isFetchingNextPage} onClick={() => query.fetchNextPage()}>
        Show more
      </Button>
    </Group>
  )
}
