import { Alert, Button, Group, Modal, MultiSelect, NumberInput, Stack, TagsInput, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { changeAlertRule, channelsQuery, createAlertRule } from '../../api/alerts'
import { reason } from '../../api/client'
import type { AlertRule, NewAlertRule } from '../../api/shapes'
import { done } from '../../parts/notify'

export const topics = [
  { value: 'kill_switch', label: 'Kill Switch' },
  { value: 'growth', label: 'Growth' },
  { value: 'budget_soft', label: 'Soft budget' },
  { value: 'budget_hard', label: 'Hard budget' },
  { value: 'session_limit', label: 'Session limit' },
  { value: 'shadow', label: 'Would stop (shadow)' },
  { value: 'upstream', label: 'Upstream failing' },
  { value: 'bypass', label: 'Bypass' },
  { value: 'store', label: 'Record' },
]

/** AlertRuleEditor makes or changes an alert rule. */
export function AlertRuleEditor({ rule, onClose }: { rule?: AlertRule; onClose: () => void }) {
  const queries = useQueryClient()
  const channels = useQuery(channelsQuery).data ?? []
  const [name, setName] = useState(rule?.name ?? '')
  const [on, setOn] = useState<string[]>(rule?.topics ?? [])
  const [agents, setAgents] = useState<string[]>(rule?.agents ?? [])
  const [to, setTo] = useState<string[]>(rule?.channels ?? [])
  const [minutes, setMinutes] = useState((rule?.cooldown_seconds ?? 0) / 60)
  const [error, setError] = useState<unknown>()
  const [busy, setBusy] = useState(false)

  const save = async () => {
    setBusy(true)
    setError(undefined)
    try {
      const sent = { name: name.trim(), topics: on as NewAlertRule['topics'], agents, channels: to, cooldown_seconds: Math.round(minutes * 60) }
      await (rule ? changeAlertRule(rule.id, sent) : createAlertRule(sent))
      await queries.invalidateQueries()
      done('Alert rule saved.')
      onClose()
    } catch (e) {
      setError(e)
      setBusy(false)
    }
  }
  return (
    <Modal opened onClose={onClose} title={rule ? `Alert rule “${rule.name}”` : 'New alert rule'}>
      <Stack gap="md">
        <TextInput label="Name" maxLength={100} value={name} onChange={(e) => setName(e.currentTarget.value)} data-autofocus />
        <MultiSelect label="Notices" placeholder={on.length ? undefined : 'All'} data={topics} value={on} onChange={setOn} />
        <TagsInput label="Agents" placeholder={agents.length ? undefined : 'All'} value={agents} onChange={setAgents} description="Press Enter after each id." />
        <MultiSelect label="Channels" placeholder={to.length ? undefined : 'All'} data={channels.map((c) => ({ value: c.id, label: c.name }))} value={to} onChange={setTo} />
        <NumberInput
          label="Cooldown, minutes"
          description="After a notice about an agent, further ones of the same kind are held back for this long."
          value={minutes}
          min={0}
          max={10080}
          onChange={(v) => setMinutes(Number(v) || 0)}
        />
        {error !== undefined && (
          <Alert color="red" variant="light" role="alert">
            {reason(error)}
          </Alert>
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="subtle" color="gray" onClick={onClose}>
            Cancel
          </Button>
          <Button variant="filled" onClick={save} loading={busy} disabled={name.trim() === ''}>
            Save
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
