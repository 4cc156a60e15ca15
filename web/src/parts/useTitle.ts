import { useEffect } from 'react'
import { count as figure } from '../format/figures'

/** useTitle names the page in the browser's tab, with how many rows it has; a plus
 *  says that there are more, which nobody has counted. */
export function useTitle(page: string, count?: number, more = false): void {
  const title = count === undefined ? page : `${page} (${figure(count)}${more ? '+' : ''})`
  useEffect(() => {
    document.title = `${title} · haltd`
  }, [title])
}
