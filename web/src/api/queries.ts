import { infiniteQueryOptions, QueryCache, QueryClient } from '@tanstack/react-query'
import { isSignedOut, Problem } from './client'

/** pageSize is how many rows a listing asks for at once. */
export const pageSize = 50

/** Listing is one page of anything, and where the next begins. */
export interface Listing<T> {
  rows: T[]
  next: string | null
}

/** pages asks for a listing page by page, each when the reader wants it. */
export function pages<T, P extends Listing<T>>(key: readonly unknown[], page: (cursor: string | undefined) => Promise<P>) {
  return infiniteQueryOptions({
    queryKey: key,
    queryFn: ({ pageParam }) => page(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next ?? undefined,
    // Rows stay while others are asked for; that there are none is not said
    // before it is known.
    placeholderData: (before) => (before?.pages.some((p) => p.rows.length > 0) ? before : undefined),
  })
}

/** makeQueryClient calls signedOut when haltd no longer knows the reader. */
export function makeQueryClient(signedOut: () => void): QueryClient {
  return new QueryClient({
    queryCache: new QueryCache({
      onError: (error) => {
        if (isSignedOut(error)) signedOut()
      },
    }),
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        retry: (tries, error) => tries < 2 && !(error instanceof Problem && error.status >= 400 && error.status < 500),
      },
    },
  })
}
