import type { Event, IncidentExcerpt, Verdict } from '../../api/shapes'
import { verdictOf } from '../../api/verdict'
import { bytes } from '../../format/figures'
import { refusals } from '../../parts/eventWords'
import { callOf, proofsOf } from '../incident/evidence'
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
  /** what the round that its reply began sent and got, where it is kept */
  said?: Said
}

/** Said is what was sent in a round and what came back. */
export interface Said {
  arguments?: string
  result?: string
}

/** saidOf is what was said in the rounds that prove an incident, by letter. */
export function saidOf(verdict: Verdict, excerpt: IncidentExcerpt | null | undefined): Map<string, Said> {
  const signal = verdict.signals?.find((s) => s.rounds?.length)
  if (!signal) return new Map()
  return new Map(
    proofsOf(signal, excerpt)
      .filter((p) => p.words)
      .map((p) => [p.round.letter, callOf(p)]),
  )
}

/** linesOf puts the calls of a session together with what an incident says of
 *  them. */
export function linesOf(calls: Event[], scene: Scene | undefined, said: Map<string, Said> = new Map()): Line[] {
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
      said: letter ? said.get(letter) : undefined,
    }
  })
}

export function repeatedOf(lines: Line[]): Line[] {
  return lines.filter((l) => l.repeated)
}

/** actOf is what the reply of a call asked for, or that there was none. */
export function actOf({ event: e, stopped }: Line): string {
  if (stopped) return 'not forwarded'
  const tools = (e.tool_calls ?? []).join(', ')
  return tools || (e.error || e.status >= 400 ? 'no reply' : 'text')
}

/** resultOf is in a few words what came of a call. */
export function resultOf({ event: e, stopped, said, times }: Line): string {
  if (stopped) return e.event_type === 'kill_switch' ? 'stopped here' : (refusals[e.block_reason ?? ''] ?? 'refused by haltd')
  if (e.error) return e.error.replaceAll('_', ' ')
  if (e.status >= 400) return `the provider answered ${e.status}`
  if (said?.result) return `${(times ?? 0) > 1 ? 'same result' : 'result'}: ${said.result}`
  if ((times ?? 0) > 1) return 'same round again'
  if (e.unread) return 'passed on unread'
  if (['length', 'max_tokens', 'MAX_TOKENS'].includes(e.finish ?? '')) return 'cut off at its token limit'
  return e.reply_bytes > 0 ? `${bytes(e.reply_bytes)} of text` : ''
}

/** found are the lines whose words or figures hold a text. */
export function found(lines: Line[], text: string): Line[] {
  const wanted = text.trim().toLowerCase()
  if (!wanted) return lines
  return lines.filter((l) => wordsOf(l).toLowerCase().includes(wanted))
}

function wordsOf(l: Line): string {
  const { event: e } = l
  return [
    `#${l.number}`, actOf(l), resultOf(l), l.said?.arguments, l.said?.result, e.model, e.finish, e.error, e.rule, e.incident,
    e.status > 0 ? e.status : '', (e.tags ?? []).join(' '), e.id, verdictOf(e).sentence,
  ].join('\n')
}
