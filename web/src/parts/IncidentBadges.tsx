import { Badge } from '@mantine/core'
import type { Incident } from '../api/shapes'

type Color = 'red' | 'amber' | 'green' | 'gray' | 'accent'

/** whatHappened is what was done, in one word. */
export function whatHappened(incident: Incident): { word: string; color: Color } {
  const past: Record<string, string> = { kill: 'Killed', reject: 'Rejected', block: 'Blocked', throttle: 'Throttled', warn: 'Warned' }
  if (incident.shadow) return { word: `Would ${incident.action}`, color: 'amber' }
  const word = past[incident.action] ?? 'Warned'
  return { word, color: incident.action === 'warn' || incident.action === 'throttle' ? 'amber' : 'red' }
}

const statuses: Record<string, { word: string; color: Color }> = {
  open: { word: 'Open', color: 'amber' },
  resumed: { word: 'Resumed', color: 'green' },
  kept: { word: 'Kept', color: 'gray' },
  false_positive: { word: 'False positive', color: 'accent' },
}

/** ActionBadge says what was done, and at which call where that is known. */
export function ActionBadge({ incident, at }: { incident: Incident; at?: number }) {
  const { word, color } = whatHappened(incident)
  return <Badge color={color}>{at === undefined ? word : `${word} at #${at}`}</Badge>
}

export function StatusBadge({ status }: { status: string }) {
  const { word, color } = statuses[status] ?? { word: status, color: 'gray' as const }
  return <Badge color={color}>{word}</Badge>
}
