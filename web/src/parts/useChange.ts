import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { attempt } from './notify'

/** useChange makes changes one at a time and asks again for all that is
 *  shown. The answer is whether the change was made; when it was not, the
 *  reader has been told with `otherwise`. */
export function useChange() {
  const queries = useQueryClient()
  const [busy, setBusy] = useState(false)
  const change = async (otherwise: string, make: () => Promise<unknown>): Promise<boolean> => {
    setBusy(true)
    const made = await attempt(otherwise, async () => {
      await make()
    })
    // Also after a failure: somebody else may have been quicker. Who waits
    // for an answer that does not come is not kept waiting.
    const fresh = queries.invalidateQueries()
    if (made) await Promise.race([fresh, new Promise((resolve) => setTimeout(resolve, 3000))])
    setBusy(false)
    return made
  }
  return { busy, change }
}
