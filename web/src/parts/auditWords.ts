import { evidenceOf } from '../api/evidence'
import type { Event } from '../api/shapes'
import { certain, score } from '../format/figures'
import { minute } from '../format/time'

/** auditWords is a change, in words: what, and by whom and why. */
export function auditWords(e: Event): { what: string; who: string } {
  const v = (e.verdict ?? {}) as Record<string, unknown>
  const text = (name: string) => (typeof v[name] === 'string' ? (v[name] as string) : '')
  const who = [text('by'), text('why')].filter(Boolean).join(': ')
  switch (e.event_type) {
    case 'policy_change':
      return { what: changeWords(text('change'), text('subject'), v), who }
    case 'kill_switch':
      return { what: e.shadow ? 'Would have been killed' : 'Deactivated by Kill Switch', who: 'haltd' }
    case 'warning':
      return { what: warningWords[warningOf(e)] + measured(e), who: 'haltd' }
    case 'growth':
      return { what: 'Prompt tokens grow', who: 'haltd' }
    case 'alert':
      return { what: evidenceOf(e.verdict).sentence ?? 'Alert', who: 'haltd' }
    default:
      return { what: e.event_type, who }
  }
}

const warningWords = { rejected: 'Rejected', 'would be stopped': 'Would have been stopped', warned: 'Warned' }

// What a warning went by: the certainty where stall gave it.
function measured(e: Event): string {
  const first = evidenceOf(e.verdict).signals[0]
  if (first?.detector === 'stall' && first.certainty !== undefined) return ` at certainty ${certain(first.certainty)}`
  return e.score > 0 ? ` at score ${score(e.score)}` : ''
}

/** warningOf is what a warning tells of. */
export function warningOf(e: Event): keyof typeof warningWords {
  const stopping = evidenceOf(e.verdict).findings.filter((f) => f.action === 'kill' || f.action === 'reject')
  if (stopping.some((f) => !f.shadow)) return 'rejected'
  return stopping.length > 0 ? 'would be stopped' : 'warned'
}

// The subject is the name of what was saved or deleted, and the id of a key.
function changeWords(change: string, subject: string, v: Record<string, unknown>): string {
  switch (change) {
    case 'activated':
      return typeof v.grace_until === 'string' ? `Activated, with grace until ${minute(v.grace_until)}` : 'Activated'
    case 'deactivated':
      return 'Deactivated by hand'
    case 'policy':
      return policyWords(v.override)
    case 'rule_saved':
      return naming('Rule saved', ruleName(v.rule))
    case 'rule_deleted':
      return naming('Rule deleted', ruleName(v.rule))
    case 'bypass_on':
      return 'Bypass switched on'
    case 'bypass_off':
      return 'Bypass switched off'
    case 'incident_closed':
      return typeof v.status === 'string' ? `Incident closed: ${v.status.replace('_', ' ')}` : 'Incident closed'
    case 'key_created':
      return naming('Gateway key made', subject)
    case 'key_revoked':
      return naming('Gateway key revoked', subject)
    case 'channel_saved':
      return naming('Alert channel saved', subject)
    case 'channel_deleted':
      return naming('Alert channel deleted', subject)
    case 'alert_rule_saved':
      return naming('Alert rule saved', subject)
    case 'alert_rule_deleted':
      return naming('Alert rule deleted', subject)
    case 'deleted':
      return 'Agent forgotten, its record deleted'
    default:
      return change || 'Policy changed'
  }
}

function naming(what: string, name: string): string {
  return name ? `${what}: ${name}` : what
}

function ruleName(rule: unknown): string {
  const name = (rule as { name?: unknown } | null | undefined)?.name
  return typeof name === 'string' ? name : ''
}

// An override is what an agent has of its own after the change.
function policyWords(override: unknown): string {
  const own = (override ?? {}) as { kill_switch?: Record<string, unknown> }
  const parts = Object.entries(own.kill_switch ?? {}).map(([k, value]) => (k === 'enabled' ? `Kill Switch ${value ? 'on' : 'off'}` : `${k.replaceAll('_', ' ')} ${String(value)}`))
  const others = Object.keys(own).filter((k) => k !== 'kill_switch').map((k) => k.replaceAll('_', ' '))
  const all = [...parts, ...others]
  return all.length === 0 ? 'Policy back to the defaults' : `Own policy: ${all.join(', ')}`
}
