import type { Incident } from '../../api/shapes'

/** rungWords says what became of the call where that was neither a stop for
 *  good nor nothing: it was steered, or its turn was halted. */
export function rungWords(incident: Incident, call: string): string | undefined {
  if (incident.shadow) return undefined
  if (incident.action === 'steer') return `${call} was forwarded with a note that tells the model what it repeats. ${sinceThen(incident)} `
  if (incident.action === 'halt') return `${call} was not forwarded: the turn ended. ${sinceHalt(incident)} `
  return undefined
}

function sinceThen(incident: Incident): string {
  switch (incident.status) {
    case 'recovered':
      return incident.note || 'The next rounds brought something new.'
    case 'unmoved':
      return 'The next rounds brought nothing new, and the next rung followed.'
    case 'open':
      return 'Whether the next rounds bring something new is not known yet.'
    default:
      return ''
  }
}

function sinceHalt(incident: Incident): string {
  switch (incident.status) {
    case 'continued':
      return 'A person wrote again, and the session continued by itself.'
    case 'open':
      return 'The session continues by itself when a person writes.'
    default:
      return ''
  }
}

/** rungTitles are what a rung leaves, as the badges call it. */
export const rungTitles = { warn: 'Warned', steer: 'Steered', reject: 'Rejected', halt: 'Halted', kill: 'Stopped' } as const

/** endedByItself is how an incident ended that nobody decided about. */
export function endedByItself(incident: Incident): string | undefined {
  switch (incident.status) {
    case 'continued':
      return 'Continued by a person in the session.'
    case 'recovered':
      return 'The agent recovered.'
    case 'unmoved':
      return 'The agent did not recover.'
    default:
      return undefined
  }
}
