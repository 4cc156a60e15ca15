import { useQuery } from '@tanstack/react-query'
import { blockStatusQuery } from '../api/service'

/** BlockStatus is how haltd answers calls that it blocks, as configured. */
export function BlockStatus() {
  const status = useQuery(blockStatusQuery).data
  return <>{status ? `HTTP ${status}, no retry` : 'no retry'}</>
}
