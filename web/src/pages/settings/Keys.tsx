import { Alert, Badge, Button, Group, Modal, NumberInput, Select, Stack, Table, TagsInput, Text, TextInput } from '@mantine/core'
import { modals } from '@mantine/modals'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { reason } from '../../api/client'
import { createKey, keysQuery, revokeKey } from '../../api/service'
import type { Key } from '../../api/shapes'
import { money } from '../../format/figures'
import { brief } from '../../format/time'
import { Empty } from '../../parts/Empty'
import { AgentLink } from '../../parts/links'
import { Loaded } from '../../parts/Loaded'
import { done } from '../../parts/notify'
import { Section } from '../../parts/Section'
import { ShownOnce } from '../../parts/ShownOnce'
import { useChange } from '../../parts/useChange'
import { actions, WideTable } from '../../parts/WideTable'

/** Keys are gateway keys: each names the agent that calls with it. */
export function Keys() {
  const query = useQuery(keysQuery)
  const [making, make] = useState(false)
  return (
    <Section title="Gateway keys" aside="under a key an agent cannot rename itself" actions={<Button onClick={() => make(true)}>New key</Button>}>
      <Loaded query={query} thing="keys">
        {(keys) =>
          keys.length === 0 ? (
            <Empty title="No gateway key">Without keys the client's own provider key passes through, and names are trusted.</Empty>
          ) : (
            <WideTable columns={['Name', 'Agent', 'Key', 'Good for', 'Made', 'Last used', 'State', actions]} minWidth={860}>
              {keys.map((k) => (
                <Row key={k.id} of={k} />
              ))}
            </WideTable>
          )
        }
      </Loaded>
      {making && <NewKey onClose={() => make(false)} />}
    </Section>
  )
}

function Row({ of: k }: { of: Key }) {
  const { change } = useChange()
  const revoke = () =>
    modals.openConfirmModal({
      title: `Revoke the key ${k.name || k.id}?`,
      children: <Text size="sm" c="dimmed">Calls with it are refused from now on. This cannot be undone.</Text>,
      labels: { confirm: 'Revoke', cancel: 'Cancel' },
      confirmProps: { variant: 'filled', color: 'red' },
      onConfirm: async () => {
        if (await change('Not revoked.', () => revokeKey(k.id))) done('Key revoked.')
      },
    })
  const ended = k.revoked_at ? `Revoked ${brief(k.revoked_at)}` : k.expires_at && new Date(k.expires_at) < new Date() ? `Expired ${brief(k.expires_at)}` : undefined
  return (
    <Table.Tr>
      <Table.Td maw={240} style={{ overflowWrap: 'anywhere' }}>
        {k.name || <span className="muted">no name</span>}
      </Table.Td>
      <Table.Td>
        <AgentLink id={k.agent} />
      </Table.Td>
      <Table.Td className="mono">{k.id}</Table.Td>
      <Table.Td maw={240} style={{ overflowWrap: 'anywhere' }}>
        {goodFor(k)}
      </Table.Td>
      <Table.Td c="dimmed">{brief(k.created_at)}</Table.Td>
      <Table.Td c="dimmed">{k.last_used_at ? brief(k.last_used_at) : 'never'}</Table.Td>
      <Table.Td>{ended ? <Badge color="gray">{ended}</Badge> : <Badge color="green">In force{k.expires_at ? ` until ${brief(k.expires_at)}` : ''}</Badge>}</Table.Td>
      <Table.Td ta="right">
        {!k.revoked_at && (
          <Button variant="subtle" color="red" onClick={revoke} aria-label={`Revoke ${k.name || k.id}`}>
            Revoke
          </Button>
        )}
      </Table.Td>
    </Table.Tr>
  )
}

/** goodFor is what may be called with a key, and for how much. */
function goodFor(k: Key): string {
  const budgets = (k.spending ?? []).filter((s) => s.budget.hard_usd).map((s) => `${money(s.spent.cost_usd)} of ${money(s.budget.hard_usd ?? 0)} a ${s.period}`)
  return [k.models?.length ? k.models.join(', ') : 'all models', ...budgets].join(' · ')
}

const spans = [
  { value: '', label: 'never' },
  { value: '7', label: 'in a week' },
  { value: '90', label: 'in 90 days' },
  { value: '365', label: 'in a year' },
]

function NewKey({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const [agent, setAgent] = useState('')
  const [name, setName] = useState('')
  const [days, setDays] = useState('')
  const [models, setModels] = useState<string[]>([])
  const [budget, setBudget] = useState<number | string>('')
  const [secret, setSecret] = useState<string>()
  const [error, setError] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const save = async () => {
    setBusy(true)
    setError(undefined)
    try {
      const key = {
        agent: agent.trim(),
        name: name.trim() || undefined,
        expires_at: days ? new Date(Date.now() + Number(days) * 86_400_000).toISOString() : undefined,
        models: models.length ? models : undefined,
        budget_day_usd: Number(budget) || undefined,
      }
      setSecret((await createKey(key)).secret)
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
    <Modal opened onClose={onClose} title="New gateway key">
      <Stack gap="md">
        <TextInput label="Agent" description="Its calls belong to this agent, whatever it calls itself." value={agent} onChange={(e) => setAgent(e.currentTarget.value)} maxLength={128} data-autofocus />
        <TextInput label="Name (optional)" value={name} onChange={(e) => setName(e.currentTarget.value)} maxLength={200} />
        <Select label="Expires" data={spans} value={days} onChange={(v) => setDays(v ?? '')} allowDeselect={false} />
        <TagsInput label="Models" description="That may be called with it, * for any text; all when empty." placeholder="gpt-*" value={models} onChange={setModels} maxTags={100} />
        <NumberInput label="Budget a day" description="In US dollars, besides the budget of the agent; no limit when empty." prefix="$" min={0} decimalScale={2} value={budget} onChange={setBudget} />
        {error !== undefined && (
          <Alert color="red" variant="light" role="alert">
            {reason(error)}
          </Alert>
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="subtle" color="gray" onClick={onClose}>
            Cancel
          </Button>
          <Button variant="filled" onClick={save} loading={busy} disabled={agent.trim() === ''}>
            Make key
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
