import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { statusQuery } from '../api/service'

/** Prices says where the price table comes from. */
export function Prices() {
  const pricing = useQuery(statusQuery).data?.pricing
  if (!pricing) return null
  return (
    <Text component="details" size="xs" c="dimmed" mt="md">
      <summary style={{ cursor: 'pointer' }}>Where the prices come from</summary>
      {pricing}
    </Text>
  )
}
