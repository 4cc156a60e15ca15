import { useEffect } from 'react'
import { count as figure } from '../format/figures'

/** useTitle names the page in the browser's tab, with how many rows it has. */
export function useTitle(page: string, count?: number): void {
  const title = count === undefined ? page : `${page} (${figure(count)})`
  useEffect(() => {
    document.title = `${title} · haltd`
  }, [title])
}
