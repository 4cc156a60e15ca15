import { Badge } from '@mantine/core'
import type { Incident } from '../api/shapes'

type Color = 'red' | 'amber' | 'green' | 'gray' | 'accent'

/** whatHappened is what was done, in one word. */
export function whatHappened(incident: Incident): { word: string; color: Color } {
  const past: Record<string, string> = { kill: 'Stopped', halt: 'Halted', steer: 'Steered', reject: 'Rejected', block: 'Blocked', throttle: 'Throttled', warn: 'Warned' }
  if (incident.shadow) return { word: incident.action === 'kill' ? 'Would stop' : `Would ${incident.action}`, color: 'gray' }
  const word = past[incident.action] ?? 'Warned'
  if (incident.action === 'steer') return { word, color: 'accent' }
  return { word, color: ['warn', 'throttle'].includes(incident.action) ? 'amber' : 'red' }
}

const statuses: Record<string, { word: string; color: Color }> = {
  open: { word: 'Open', color: 'amber' },
  resumed: { word: 'Resumed', color: 'green' },
  continued: { word: 'Continued by a person', color: 'green' },
  recovered: { word: 'Recovered', color: 'green' },
  unmoved: { word: 'Not recovered', color: 'red' },
  kept: { word: 'Kept stopped', color: 'gray' },
  false_positive: { word: 'Marked as wrong', color: 'accent' },
}

/** isStop reports whether an agent or session is off because of an incident. */
export function isStop(incident: Incident): boolean {
  return ['kill', 'halt'].includes(incident.action) && !incident.shadow
}

/** ActionBadge says what was done, and at which call where that is known. */
export function ActionBadge({ incident, at }: { incident: Incident; at?: number }) {
  const { word, color } = whatHappened(incident)
  return <Badge color={color} style={{ flexShrink: 0 }}>{at === undefined ? word : `${word} at #${at}`}</Badge>
}

/** StatusBadge says what was decided. What stopped nobody is closed, not kept
 *  stopped, and a halt is kept halted. */
export function StatusBadge({ incident }: { incident: Incident }) {
  const { word, color } = statuses[incident.status] ?? { word: incident.status, color: 'gray' as const }
  const kept = !isStop(incident) ? 'Closed' : incident.action === 'halt' ? 'Kept halted' : word
  return <Badge color={color}>{incident.status === 'kept' ? kept : word}</Badge>
}
