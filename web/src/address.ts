/** parseSearch reads the part of an address after the question mark as plain
 *  text: a session may be called 12345 or true. */
export function parseSearch(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text))
}

/** stringifySearch writes it as parseSearch reads it. */
export function stringifySearch(search: Record<string, unknown>): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(search)) {
    if (value !== undefined) params.set(name, String(value))
  }
  const text = params.toString()
  return text && `?${text}`
}
