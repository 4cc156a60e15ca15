/** sectionOf is one top-level part of a YAML text, without its name. haltd
 *  writes the text itself, in block style. */
export function sectionOf(yaml: string, name: string): string {
  const lines = yaml.split('\n')
  const start = lines.findIndex((l) => l.startsWith(`${name}:`))
  if (start < 0) return ''
  const rest = lines.slice(start + 1)
  const length = rest.findIndex((l) => l !== '' && !/^[\s-]/.test(l))
  const inside = length < 0 ? rest : rest.slice(0, length)
  const first = lines[start]!.slice(name.length + 1).trim()
  const indent = inside[0]?.match(/^ */)?.[0].length ?? 0
  return [first, ...inside.map((l) => l.slice(indent))].filter((l, i) => i > 0 || l !== '').join('\n').trimEnd()
}
