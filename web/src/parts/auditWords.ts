import { evidenceOf } from '../api/evidence'
import type { Event } from '../api/shapes'
import { score } from '../format/figures'
import { minute } from '../format/time'

/** auditWords is a change, in words: what, and by whom and why. */
export function auditWords(e: Event): { what: string; who: string } {
  const v = (e.verdict ?? {}) as Record<string, unknown>
  const text = (name: string) => (typeof v[name] === 'string' ? (v[name] as string) : '')
  const who = [text('by'), text('why')].filter(Boolean).join(': ')
  switch (e.event_type) {
    case 'policy_change':
      return { what: changeWords(text('change'), v), who }
    case 'kill_switch':
      return { what: e.shadow ? 'Would have been killed' : 'Deactivated by Kill Switch', who: 'haltd' }
    case 'warning':
      return { what: `Warned${e.score > 0 ? ` at score ${score(e.score)}` : ''}`, who: 'haltd' }
    case 'growth':
      return { what: 'Prompt tokens grow', who: 'haltd' }
    case 'alert':
      return { what: evidenceOf(e.verdict).sentence ?? 'Alert', who: 'haltd' }
    default:
      return { what: e.event_type, who }
  }
}

function changeWords(change: string, v: Record<string, unknown>): string {
  switch (change) {
    case 'activated':
      return typeof v.grace_until === 'string' ? `Activated, with grace until ${minute(v.grace_until)}` : 'Activated'
    case 'deactivated':
      return 'Deactivated by hand'
    case 'policy':
      return policyWords(v.override)
    case 'rule_saved':
      return 'Rule saved'
    case 'rule_deleted':
      return 'Rule deleted'
    case 'bypass_on':
      return 'Bypass switched on'
    case 'bypass_off':
      return 'Bypass switched off'
    case 'incident_closed':
      return typeof v.status === 'string' ? `Incident closed: ${v.status.replace('_', ' ')}` : 'Incident closed'
    case 'deleted':
      return 'Forgotten'
    default:
      return change || 'Policy changed'
  }
}

// An override is what an agent has of its own after the change.
function policyWords(override: unknown): string {
  const own = (override ?? {}) as { kill_switch?: Record<string, unknown> }
  const parts = Object.entries(own.kill_switch ?? {}).map(([k, value]) => (k === 'enabled' ? `Kill Switch ${value ? 'on' : 'off'}` : `${k.replaceAll('_', ' ')} ${String(value)}`))
  const others = Object.keys(own).filter((k) => k !== 'kill_switch').map((k) => k.replaceAll('_', ' '))
  const all = [...parts, ...others]
  return all.length === 0 ? 'Policy back to the defaults' : `Own policy: ${all.join(', ')}`
}
