import type { Channel } from '../../api/shapes'

export interface Field {
  name: string
  label: string
  description?: string
  /** comes redacted and is typed unseen; left empty it stays as it is */
  secret?: boolean
  /** comes redacted, too, but is typed in plain sight */
  redacted?: boolean
  number?: boolean
  /** several, one per line or separated by commas */
  list?: boolean
  choices?: string[]
  optional?: boolean
}

/** kinds are the channels there are, and what each needs. */
export const kinds: Record<string, { label: string; fields: Field[] }> = {
  slack: {
    label: 'Slack',
    fields: [{ name: 'url', label: 'Webhook address', description: 'https://hooks.slack.com/services/…', secret: true }],
  },
  webhook: {
    label: 'Webhook',
    fields: [
      { name: 'url', label: 'Address', description: 'Gets a POST with a Standard Webhooks signature.', redacted: true },
      { name: 'secret', label: 'Secret', description: 'Leave empty: haltd makes one and shows it once.', secret: true, optional: true },
    ],
  },
  email: {
    label: 'Email',
    fields: [
      { name: 'host', label: 'SMTP host' },
      { name: 'port', label: 'Port', number: true, optional: true, description: 'Leave empty for the usual one.' },
      { name: 'tls', label: 'Encryption', choices: ['starttls', 'implicit', 'none'], optional: true },
      { name: 'username', label: 'User name', optional: true },
      { name: 'password', label: 'Password', secret: true, optional: true },
      { name: 'from', label: 'From' },
      { name: 'to', label: 'To', list: true, description: 'Separated by commas.' },
    ],
  },
}

/** settingsOf reads the settings of a channel, which are shown redacted. */
export function settingsOf(channel: Channel | undefined): Record<string, unknown> {
  const s = channel?.settings
  return s !== null && typeof s === 'object' ? (s as Record<string, unknown>) : {}
}

/** targetOf is where a channel leads, in a line. */
export function targetOf(channel: Channel): string {
  const s = settingsOf(channel)
  if (Array.isArray(s.to)) return s.to.join(', ')
  return typeof s.url === 'string' ? s.url : typeof s.host === 'string' ? s.host : ''
}

/** sentSettings turns what was typed into settings; fields left empty are
 *  left out, so that a secret that is not typed again stays. */
export function sentSettings(kind: string, typed: Record<string, string>): Record<string, unknown> {
  const sent: Record<string, unknown> = {}
  for (const f of kinds[kind]?.fields ?? []) {
    const text = typed[f.name]?.trim() ?? ''
    if (text === '') continue
    sent[f.name] = f.number ? Number(text) : f.list ? text.split(/[\s,]+/).filter(Boolean) : text
  }
  return sent
}
