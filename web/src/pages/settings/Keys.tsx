import { Alert, Badge, Button, Group, Modal, Stack, Table, Text, TextInput } from '@mantine/core'
import { modals } from '@mantine/modals'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { reason } from '../../api/client'
import { createKey, keysQuery, revokeKey } from '../../api/service'
import type { Key } from '../../api/shapes'
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
            <WideTable columns={['Name', 'Agent', 'Key', 'Made', 'State', actions]} minWidth={640}>
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
  return (
    <Table.Tr>
      <Table.Td maw={240} style={{ overflowWrap: 'anywhere' }}>
        {k.name || <span className="muted">no name</span>}
      </Table.Td>
      <Table.Td>
        <AgentLink id={k.agent} />
      </Table.Td>
      <Table.Td className="mono">{k.id}</Table.Td>
      <Table.Td c="dimmed">{brief(k.created_at)}</Table.Td>
      <Table.Td>{k.revoked_at ? <Badge color="gray">Revoked {brief(k.revoked_at)}</Badge> : <Badge color="green">In force</Badge>}</Table.Td>
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

function NewKey({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const [agent, setAgent] = useState('')
  const [name, setName] = useState('')
  const [secret, setSecret] = useState<string>()
  const [error, setError] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const save = async () => {
    setBusy(true)
    setError(undefined)
    try {
      setSecret((await createKey(agent.trim(), name.trim())).secret)
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
