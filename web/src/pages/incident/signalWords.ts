import type { Signal } from '../../api/shapes'
import { count } from '../../format/figures'

/** signalWords is what a detector saw, beside its name. */
export function signalWords(s: Signal): string {
  const tools = (s.tools ?? []).join(', ')
  const n = count(s.count ?? 0)
  switch (s.family) {
    case 'repeat':
      return `same round ${n} times${tools && `, ${tools}`}`
    case 'cycle':
      return `cycle ${(s.rounds ?? []).map((r) => r.letter).join(' ') || tools}, no progress`
    case 'futile':
      return `${n} different calls, the same ${s.outcome ?? 'result'}`
    case 'chatter':
      return `the same words ${n} times, no tool call`
    case 'refusal':
      return `refused ${n} times with the same message${tools && `, ${tools}`}`
    case 'waiting':
      return `${n} polls, the same answer${tools && `, ${tools}`}`
    case 'streak':
      return `the same prompt and answer ${n} times, under changing users or sessions`
    default:
      return (s.tokens ?? []).map(count).join(' → ')
  }
}
