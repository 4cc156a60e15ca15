// Characters that a reader cannot see, or that would turn the words around.
// eslint-disable-next-line no-control-regex
const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g

/** visible is a text with a mark in the place of each character that nobody
 *  sees: control characters, marks of direction, spaces without width. */
export function visible(text: string): string {
  return text.replace(hidden, (c) => (c === '\r' ? '' : '\u2423'))
}
