const key = 'haltd-incidents'

/** remember keeps the order of the list that was shown last, for the keys that
 *  go to the next incident and the one before. */
export function remember(ids: string[]): void {
  sessionStorage.setItem(key, ids.join(' '))
}

/** beside are the incidents before and after one in that list. */
export function beside(id: string): { before?: string; after?: string } {
  const ids = (sessionStorage.getItem(key) ?? '').split(' ').filter(Boolean)
  const at = ids.indexOf(id)
  return at < 0 ? {} : { before: ids[at - 1], after: ids[at + 1] }
}
