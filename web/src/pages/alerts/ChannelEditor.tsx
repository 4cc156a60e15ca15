import { Alert, Button, Group, Modal, PasswordInput, SegmentedControl, Select, Stack, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { changeChannel, createChannel } from '../../api/alerts'
import { reason } from '../../api/client'
import type { Channel, NewChannel } from '../../api/shapes'
import { done } from '../../parts/notify'
import { ShownOnce } from '../../parts/ShownOnce'
import { type Field, kinds, sentSettings, settingsOf } from './kinds'

/** ChannelEditor makes or changes a channel. */
export function ChannelEditor({ channel, onClose }: { channel?: Channel; onClose: () => void }) {
  const queries = useQueryClient()
  const [kind, setKind] = useState<string>(channel?.kind ?? 'slack')
  const [name, setName] = useState(channel?.name ?? '')
  const [typed, setTyped] = useState<Record<string, string>>(() => shownSettings(channel))
  const [error, setError] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const [secret, setSecret] = useState<string>()
  const fields = kinds[kind]?.fields ?? []
  const missing = name.trim() === '' || fields.some((f) => !f.optional && !(channel && (f.secret || f.redacted)) && !typed[f.name]?.trim())

  const save = async () => {
    setBusy(true)
    setError(undefined)
    try {
      const settings = sentSettings(kind, typed)
      const saved = channel
        ? await changeChannel(channel.id, { name: name.trim(), settings })
        : await createChannel({ name: name.trim(), kind: kind as NewChannel['kind'], settings })
      await queries.invalidateQueries()
      const made = settingsOf(saved as Channel).secret
      // A secret that haltd made is in this one answer.
      if (!channel && kind === 'webhook' && !typed.secret && typeof made === 'string' && made.startsWith('whsec_')) setSecret(made)
      else {
        done('Channel saved.', 'Press Test to see that it works.')
        onClose()
      }
    } catch (e) {
      setError(e)
    }
    setBusy(false)
  }
  if (secret) {
    return (
      <ShownOnce title="The secret of this webhook" what="the secret" secret={secret} onClose={onClose}>
        The receiver checks signatures with it.
      </ShownOnce>
    )
  }
  return (
    <Modal opened onClose={onClose} title={channel ? `Channel ${channel.name}` : 'Add a channel'}>
      <Stack gap="md">
        {!channel && (
          <SegmentedControl
            aria-label="Kind"
            value={kind}
            onChange={setKind}
            data={Object.entries(kinds).map(([value, k]) => ({ value, label: k.label }))}
          />
        )}
        <TextInput label="Name" maxLength={100} value={name} onChange={(e) => setName(e.currentTarget.value)} data-autofocus />
        {fields.map((f) => (
          <Input key={`${kind} ${f.name}`} field={f} kept={channel !== undefined} value={typed[f.name] ?? ''} onChange={(v) => setTyped({ ...typed, [f.name]: v })} />
        ))}
        {error !== undefined && (
          <Alert color="red" variant="light" role="alert">
            {reason(error)}
          </Alert>
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="subtle" color="gray" onClick={onClose}>
            Cancel
          </Button>
          <Button variant="filled" onClick={save} loading={busy} disabled={missing}>
            Save
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

function Input({ field: f, kept, value, onChange }: { field: Field; kept: boolean; value: string; onChange: (v: string) => void }) {
  const label = f.optional ? `${f.label} (optional)` : f.label
  if (f.choices) {
    return <Select label={label} data={f.choices} value={value || f.choices[0]} allowDeselect={false} onChange={(v) => onChange(v ?? '')} />
  }
  const unchanged = kept ? 'Unchanged' : undefined
  const shared = { label, description: f.description, value, onChange: (e: { currentTarget: { value: string } }) => onChange(e.currentTarget.value) }
  return f.secret ? (
    <PasswordInput {...shared} placeholder={unchanged} autoComplete="off" />
  ) : (
    <TextInput {...shared} placeholder={f.redacted ? unchanged : undefined} inputMode={f.number ? 'numeric' : undefined} />
  )
}

// What comes redacted is not filled in, and stays when left empty.
function shownSettings(channel: Channel | undefined): Record<string, string> {
  const settings = settingsOf(channel)
  const fields = kinds[channel?.kind ?? '']?.fields.filter((f) => !f.secret && !f.redacted) ?? []
  return Object.fromEntries(fields.map((f) => [f.name, shown(settings[f.name])]))
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ')
  return value === undefined || value === null || value === 0 ? '' : String(value)
}
