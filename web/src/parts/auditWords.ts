import type { Audit, Event, Section } from '../api/shapes'
import { verdictOf } from '../api/verdict'
import { certain, score } from '../format/figures'
import { minute } from '../format/time'
import { linesOf, whole } from '../pages/incident/certainty'

/** auditWords is a change, in words: what, and by whom and why. The sections are
 *  those of the settings of a policy, which have their labels. */
export function auditWords(e: Event, sections: Section[]): { what: string; who: string } {
  const who = [e.audit?.by, e.audit?.why].filter(Boolean).join(': ')
  switch (e.event_type) {
    case 'policy_change':
      return { what: e.audit ? changeWords(e.audit, sections) : 'Policy changed', who }
    case 'steer':
      return { what: e.shadow ? 'Would have been steered' : 'Steered by a note', who: 'haltd' }
    case 'halt':
      return { what: 'Halted until a person writes', who: 'haltd' }
    case 'kill_switch':
      return { what: e.shadow ? 'Would have been stopped' : 'Stopped by haltd', who: 'haltd' }
    case 'warning':
      return { what: warningWords[warningOf(e)] + measured(e), who: 'haltd' }
    case 'growth':
      return { what: 'Prompt tokens grow', who: 'haltd' }
    case 'alert':
      return { what: verdictOf(e).sentence ?? 'Alert', who: 'haltd' }
    default:
      return { what: e.event_type, who }
  }
}

const warningWords = { rejected: 'Rejected', 'would be rejected': 'Would have been rejected', 'would be stopped': 'Would have been stopped', warned: 'Warned' }

// What a warning went by: the certainty where stall gave it.
function measured(e: Event): string {
  const first = verdictOf(e).signals?.[0]
  if (first?.detector === 'stall' && first.certainty !== undefined) return ` at certainty ${certain(whole(first.certainty, linesOf(first)))}`
  return e.score > 0 ? ` at score ${score(e.score)}` : ''
}

/** warningOf is what a warning tells of. */
export function warningOf(e: Event): keyof typeof warningWords {
  const stopping = (verdictOf(e).findings ?? []).filter((f) => f.action === 'kill' || f.action === 'reject')
  if (stopping.some((f) => !f.shadow)) return 'rejected'
  if (stopping.length === 0) return 'warned'
  return stopping.some((f) => f.action === 'kill') ? 'would be stopped' : 'would be rejected'
}

/** changeWords is what somebody changed. The subject is the name of what was
 *  saved or deleted, and the id of a key. */
export function changeWords({ change, subject, grace_until, override, rule, status }: Audit, sections: Section[]): string {
  switch (change) {
    case 'activated':
      return grace_until ? `Resumed, with grace until ${minute(grace_until)}` : 'Resumed'
    case 'deactivated':
      return 'Stopped by hand'
    case 'policy':
      return policyWords(override, sections)
    case 'rule_saved':
      return naming('Rule saved', rule?.name)
    case 'rule_deleted':
      return naming('Rule deleted', rule?.name)
    case 'incident_acknowledged':
      return 'Incident acknowledged'
    case 'incident_commented':
      return 'Comment on an incident'
    case 'bypass_on':
      return 'Bypass switched on'
    case 'bypass_off':
      return 'Bypass switched off'
    case 'incident_closed':
      return decided[status ?? ''] ?? 'Incident closed'
    case 'incident_reopened':
      return 'Decision undone'
    case 'key_created':
      return naming('Gateway key created', subject)
    case 'key_changed':
      return naming('Gateway key changed', subject)
    case 'key_revoked':
      return naming('Gateway key revoked', subject)
    case 'token_created':
      return naming('API token created', subject)
    case 'token_revoked':
      return naming('API token revoked', subject)
    case 'user_created':
      return naming('User added', subject)
    case 'user_changed':
      return naming('Role of a user changed', subject)
    case 'user_link_made':
      return naming('Password of a user reset', subject)
    case 'user_deleted':
      return naming('User removed', subject)
    case 'password_chosen':
      return naming('Password chosen', subject)
    case 'prices_loaded':
      return naming('Price table loaded', subject)
    case 'prices_reset':
      return 'Back to the built-in price table'
    case 'channel_saved':
      return naming('Alert channel saved', subject)
    case 'channel_deleted':
      return naming('Alert channel deleted', subject)
    case 'alert_rule_saved':
      return naming('Alert rule saved', subject)
    case 'alert_rule_deleted':
      return naming('Alert rule deleted', subject)
    case 'deleted':
      return 'History of the agent deleted'
    default:
      return change || 'Policy changed'
  }
}

const decided: Record<string, string> = {
  resumed: 'Incident decided: resumed', kept: 'Incident decided: kept stopped', false_positive: 'Incident decided: marked as wrong',
  recovered: 'Recovered after a note', unmoved: 'Not recovered after a note', continued: 'Continued by a person',
}

function naming(what: string, name: string | undefined): string {
  return name ? `${what}: ${name}` : what
}

// An override is what an agent has of its own after the change. What a newer haltd
// has recorded may have no label here.
function policyWords(own: Audit['override'] = {}, sections: Section[]): string {
  const settings = sections.flatMap((s) => s.settings)
  const labelOf = (path: string) => settings.find((s) => s.path === path)?.label ?? sections.find((s) => s.name === path)?.label ?? path
  const parts = Object.entries(own.kill_switch ?? {}).map(([k, value]) => {
    const label = labelOf(`kill_switch.${k}`)
    return k === 'enabled' ? `${label} ${value ? 'on' : 'off'}` : `${label}: ${String(value)}`
  })
  const others = Object.keys(own).filter((k) => k !== 'kill_switch').map(labelOf)
  const all = [...parts, ...others]
  return all.length === 0 ? 'Policy back to the defaults' : `Own policy: ${all.join('; ')}`
}
