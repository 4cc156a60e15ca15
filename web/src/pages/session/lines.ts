import type { Event } from '../../api/shapes'
import type { Scene } from '../incident/scene'

/** Line is one call of a session. */
export interface Line {
  event: Event
  number: number
  letter?: string
  /** how often the round of this letter has come by now */
  times?: number
  repeated: boolean
  /** was not forwarded */
  stopped: boolean
  /** prompt tokens more than the call before */
  grown?: number
}

/** linesOf puts the calls of a session together with what an incident says of
 *  them. */
export function linesOf(calls: Event[], scene: Scene | undefined): Line[] {
  const entries = new Map(scene?.entries.map((e) => [e.event.id, e]))
  const counts = new Map<string, number>()
  let before: number | undefined
  return calls.map((event, i) => {
    const entry = entries.get(event.id)
    const stopped = event.blocked || event.event_type === 'blocked' || (event.event_type === 'kill_switch' && !event.shadow)
    const letter = entry?.letter
    if (letter) counts.set(letter, (counts.get(letter) ?? 0) + 1)
    const tokens = event.tokens.input
    const grown = before !== undefined && tokens > 0 ? tokens - before : undefined
    if (tokens > 0) before = tokens
    return {
      event,
      number: i + 1,
      letter,
      times: letter ? counts.get(letter) : undefined,
      repeated: !stopped && (letter !== undefined || Object.keys(entry?.distance ?? {}).length > 0),
      stopped,
      grown,
    }
  })
}

export function repeatedOf(lines: Line[]): Line[] {
  return lines.filter((l) => l.repeated)
}
