import { Alert, Button, Group, Modal, NumberInput, Select, Stack, TagsInput, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { reason } from '../../api/client'
import { changeKey, createKey, keysQuery } from '../../api/service'
import type { Key } from '../../api/shapes'
import { full } from '../../format/time'
import { done } from '../../parts/notify'
import { ShownOnce } from '../../parts/ShownOnce'

const as = 'as it is'

/** KeyForm creates a gateway key, or changes the name and the limits of one. */
export function KeyForm({ of, onClose }: { of?: Key; onClose: () => void }) {
  const queries = useQueryClient()
  const [agent, setAgent] = useState(of?.agent ?? '')
  const [name, setName] = useState(of?.name ?? '')
  const [days, setDays] = useState(of?.expires_at ? as : '')
  const [models, setModels] = useState<string[]>(of?.models ?? [])
  const [day, setDay] = useState<number | string>(of?.budget_day_usd || '')
  const [month, setMonth] = useState<number | string>(of?.budget_month_usd || '')
  const [secret, setSecret] = useState<string>()
  const [error, setError] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const spans = [
    ...(of?.expires_at ? [{ value: as, label: `as now: ${full(of.expires_at)}` }] : []),
    { value: '', label: 'never' },
    { value: '7', label: 'in a week' },
    { value: '90', label: 'in 90 days' },
    { value: '365', label: 'in a year' },
  ]
  const save = async () => {
    setBusy(true)
    setError(undefined)
    const expires = days && days !== as ? new Date(Date.now() + Number(days) * 86_400_000).toISOString() : undefined
    try {
      if (of) {
        await changeKey(of.id, {
          name: name.trim(),
          expires_at: days === '' ? null : expires,
          models,
          budget_day_usd: Number(day) || 0,
          budget_month_usd: Number(month) || 0,
        })
        done('Key saved.', 'Effective on the next call.')
        onClose()
      } else {
        const made = await createKey({
          agent: agent.trim(),
          name: name.trim() || undefined,
          expires_at: expires,
          models: models.length ? models : undefined,
          budget_day_usd: Number(day) || undefined,
          budget_month_usd: Number(month) || undefined,
        })
        setSecret(made.secret)
      }
      await queries.invalidateQueries({ queryKey: keysQuery.queryKey })
    } catch (e) {
      setError(e)
    }
    setBusy(false)
  }
  if (secret) {
    return (
      <ShownOnce title="The new key" what="the key" secret={secret} onClose={onClose}>
        Put it where the provider's key goes.
      </ShownOnce>
    )
  }
  return (
    <Modal opened onClose={onClose} title={of ? `Key ${of.name || of.id}` : 'New gateway key'}>
      <Stack gap="md">
        {!of && (
          <TextInput label="Agent" description="Its calls belong to this agent, whatever it calls itself." value={agent} onChange={(e) => setAgent(e.currentTarget.value)} maxLength={128} data-autofocus />
        )}
        <TextInput label="Name (optional)" value={name} onChange={(e) => setName(e.currentTarget.value)} maxLength={200} />
        <Select label="Expires" data={spans} value={days} onChange={(v) => setDays(v ?? '')} allowDeselect={false} />
        <TagsInput label="Models" description="Models that this key may call; * matches any text. Empty: all." placeholder="gpt-*" value={models} onChange={setModels} maxTags={100} />
        <NumberInput label="Daily budget" description="In US dollars, on top of the agent’s own budget. Empty: no limit." prefix="$" min={0} decimalScale={2} value={day} onChange={setDay} />
        <NumberInput label="Monthly budget" prefix="$" min={0} decimalScale={2} value={month} onChange={setMonth} />
        {error !== undefined && (
          <Alert color="red" variant="light" role="alert">
            {reason(error)}
          </Alert>
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="subtle" color="gray" onClick={onClose}>
            Cancel
          </Button>
          <Button variant="filled" onClick={() => void save()} loading={busy} disabled={agent.trim() === ''}>
            {of ? 'Save' : 'Create key'}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
