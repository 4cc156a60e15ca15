import { Alert, Button, Group, Modal, MultiSelect, NumberInput, Select, SimpleGrid, Stack, Switch, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { reason } from '../../api/client'
import { changeRule, createRule } from '../../api/rules'
import type { NewRule, Rule, RuleCondition } from '../../api/shapes'
import { done } from '../../parts/notify'
import { dayNames, days } from '../agent/week'
import { faultsOf } from './faults'
import { conditionWords } from './words'

const actions = [
  { value: 'block', label: 'Block: answered as if stopped, no retry' },
  { value: 'reject', label: 'Reject: HTTP 429, retry later' },
  { value: 'throttle', label: 'Throttle: forward after a delay' },
  { value: 'warn', label: 'Warn: forward and flag' },
  { value: 'tag', label: 'Tag: forward and mark' },
  { value: 'allow', label: 'Allow: no further rule is evaluated' },
]

/** RuleEditor makes or changes a rule. What is left empty is not demanded. */
export function RuleEditor({ rule, onClose }: { rule?: Rule; onClose: () => void }) {
  const queries = useQueryClient()
  const [draft, setDraft] = useState<NewRule>(
    rule
      ? { name: rule.name, enabled: rule.enabled, priority: rule.priority, condition: rule.condition, action: rule.action as NewRule['action'], action_config: rule.action_config }
      : { name: '', enabled: true, priority: 0, condition: {}, action: 'block', action_config: {} },
  )
  const [tried, setTried] = useState(false)
  const [error, setError] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const faults = faultsOf(draft)
  const fault = (field: string) => (tried ? faults[field] : undefined)
  const edit = (part: Partial<NewRule>) => setDraft({ ...draft, ...part })
  const demand = (part: Partial<RuleCondition>) => edit({ condition: cleaned({ ...draft.condition, ...part }) })
  const config = draft.action_config ?? {}

  const save = async () => {
    setTried(true)
    if (Object.keys(faults).length > 0) return
    setBusy(true)
    setError(undefined)
    try {
      const sent = { ...draft, action_config: configFor(draft) }
      await (rule ? changeRule(rule.id, sent) : createRule(sent))
      await queries.invalidateQueries()
      done('Rule saved.', 'Effective on the next call.')
      onClose()
    } catch (e) {
      setError(e)
      setBusy(false)
    }
  }
  return (
    <Modal opened onClose={onClose} size={640} title={rule ? `Rule “${rule.name}”` : 'New rule'}>
      <Stack gap="md">
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <TextInput label="Name" maxLength={200} value={draft.name} onChange={(e) => edit({ name: e.currentTarget.value })} error={fault('name')} data-autofocus />
          <NumberInput label="Priority (highest is evaluated first)" value={draft.priority ?? 0} onChange={(v) => edit({ priority: Number(v) || 0 })} allowDecimal={false} min={-1_000_000} max={1_000_000} />
        </SimpleGrid>
        <Condition condition={draft.condition} onChange={demand} fault={fault} />
        <Text size="sm" c="dimmed">
          Matches {conditionWords(draft.condition)}.
        </Text>
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <Select label="Then" data={actions} value={draft.action} allowDeselect={false} onChange={(v) => v && edit({ action: v as NewRule['action'] })} />
          {draft.action === 'reject' && (
            <NumberInput label="Retry after, seconds" value={config.retry_after_seconds ?? 60} min={1} max={86400} allowDecimal={false} onChange={(v) => edit({ action_config: { ...config, retry_after_seconds: Number(v) || undefined } })} />
          )}
          {draft.action === 'throttle' && (
            <NumberInput label="Delay, ms" value={config.delay_ms ?? ''} min={1} max={30000} allowDecimal={false} onChange={(v) => edit({ action_config: { ...config, delay_ms: Number(v) || undefined } })} error={fault('delay_ms')} />
          )}
          {draft.action === 'tag' && (
            <TextInput label="Tag" maxLength={100} value={config.tag ?? ''} onChange={(e) => edit({ action_config: { ...config, tag: e.currentTarget.value } })} error={fault('tag')} />
          )}
        </SimpleGrid>
        <Switch label="On" checked={draft.enabled ?? true} onChange={(e) => edit({ enabled: e.currentTarget.checked })} />
        {error !== undefined && (
          <Alert color="red" variant="light" role="alert">
            {reason(error)}
          </Alert>
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="subtle" color="gray" onClick={onClose}>
            Cancel
          </Button>
          <Button variant="filled" loading={busy} onClick={save}>
            Save, effective on the next call
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

interface ConditionProps {
  condition: RuleCondition
  onChange: (part: Partial<RuleCondition>) => void
  fault: (field: string) => string | undefined
}

function Condition({ condition: c, onChange, fault }: ConditionProps) {
  const whole = (v: string | number) => (v === '' ? undefined : Number(v))
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }}>
      <TextInput label="Agent" placeholder="Any" value={c.agent ?? ''} onChange={(e) => onChange({ agent: e.currentTarget.value })} />
      <TextInput label="Session" placeholder="Any" value={c.session ?? ''} onChange={(e) => onChange({ session: e.currentTarget.value })} />
      <TextInput label="Provider" placeholder="Any" value={c.provider ?? ''} onChange={(e) => onChange({ provider: e.currentTarget.value })} />
      <TextInput label="Model" placeholder="Any" value={c.model ?? ''} onChange={(e) => onChange({ model: e.currentTarget.value })} />
      <TextInput label="Model pattern (* matches any text)" placeholder="gpt-5*" value={c.model_pattern ?? ''} onChange={(e) => onChange({ model_pattern: e.currentTarget.value })} />
      <TextInput label="Path pattern (* matches any text)" placeholder="/v1/batches" value={c.path ?? ''} onChange={(e) => onChange({ path: e.currentTarget.value })} error={fault('path')} />
      <MultiSelect label="Days" placeholder={c.day_of_week?.length ? undefined : 'Every day'} data={days.map((value, i) => ({ value, label: dayNames[i]! }))} value={c.day_of_week ?? []} onChange={(v) => onChange({ day_of_week: v })} />
      <Group grow align="flex-start">
        <NumberInput label="Prompt tokens from" placeholder="Any" value={c.prompt_tokens_min ?? ''} min={0} allowDecimal={false} hideControls onChange={(v) => onChange({ prompt_tokens_min: whole(v) })} error={fault('prompt_tokens')} />
        <NumberInput label="to" placeholder="Any" value={c.prompt_tokens_max ?? ''} min={0} allowDecimal={false} hideControls onChange={(v) => onChange({ prompt_tokens_max: whole(v) })} />
      </Group>
      <Group grow align="flex-start">
        <NumberInput label="Hours from" placeholder="0" value={c.hour_min ?? ''} min={0} max={23} allowDecimal={false} hideControls onChange={(v) => onChange({ hour_min: whole(v) })} />
        <NumberInput label="to" placeholder="23" value={c.hour_max ?? ''} min={0} max={23} allowDecimal={false} hideControls onChange={(v) => onChange({ hour_max: whole(v) })} />
      </Group>
    </SimpleGrid>
  )
}

// A demand that is empty is none.
function cleaned(c: RuleCondition): RuleCondition {
  return Object.fromEntries(Object.entries(c).filter(([, v]) => v !== undefined && v !== '' && !(Array.isArray(v) && v.length === 0))) as RuleCondition
}

// Only what belongs to the action is sent: a delay on a block is refused.
function configFor(draft: NewRule): NewRule['action_config'] {
  const config = draft.action_config ?? {}
  if (draft.action === 'reject') return { retry_after_seconds: config.retry_after_seconds }
  if (draft.action === 'throttle') return { delay_ms: config.delay_ms }
  if (draft.action === 'tag') return { tag: config.tag?.trim() }
  return {}
}
