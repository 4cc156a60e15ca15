// Characters that a reader cannot see, or that would turn the words around.
// eslint-disable-next-line no-control-regex
const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g

// What agents, models and tools name or say, and what is made of it, under the
// names that the API gives it. Sessions are not among them: haltd takes no such
// character into an id. What a person edits stays as it is.
const said = new Set(['sentence', 'model', 'client', 'provider', 'tool', 'tools', 'tool_calls', 'path', 'why', 'note', 'error', 'tags', 'by'])

/** legible is an answer of the API in which no such text can move the words
 *  around it. */
export function legible<T>(answer: T): T {
  if (Array.isArray(answer)) return answer.map(legible) as T
  if (typeof answer !== 'object' || answer === null) return answer
  const clean = (value: unknown): unknown => (typeof value === 'string' ? visible(value) : Array.isArray(value) ? value.map(clean) : legible(value))
  return Object.fromEntries(Object.entries(answer).map(([name, value]) => [name, name === 'condition' ? value : said.has(name) ? clean(value) : legible(value)])) as T
}

/** visible is a text with a mark in the place of each character that nobody
 *  sees: control characters, marks of direction, spaces without width. */
export function visible(text: string): string {
  return text.replace(hidden, (c) => (c === '\r' ? '' : '\u2423'))
}
