import { Badge, Button, Group, Table, Text } from '@mantine/core'
import { modals } from '@mantine/modals'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { keysQuery, revokeKey } from '../../api/service'
import type { Key } from '../../api/shapes'
import { money } from '../../format/figures'
import { brief } from '../../format/time'
import { Empty } from '../../parts/Empty'
import { AgentLink } from '../../parts/links'
import { Loaded } from '../../parts/Loaded'
import { done } from '../../parts/notify'
import { Section } from '../../parts/Section'
import { useChange } from '../../parts/useChange'
import { actions, WideTable } from '../../parts/WideTable'
import { KeyForm } from './KeyForm'

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
            <WideTable columns={['Name', 'Agent', 'Key', 'Limits', 'Created', 'Last used', 'State', actions]} minWidth={860}>
              {keys.map((k) => (
                <Row key={k.id} of={k} />
              ))}
            </WideTable>
          )
        }
      </Loaded>
      {making && <KeyForm onClose={() => make(false)} />}
    </Section>
  )
}

function Row({ of: k }: { of: Key }) {
  const { change } = useChange()
  const [editing, edit] = useState(false)
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
        {allowance(k)}
      </Table.Td>
      <Table.Td c="dimmed">{brief(k.created_at)}</Table.Td>
      <Table.Td c="dimmed">{k.last_used_at ? brief(k.last_used_at) : 'never'}</Table.Td>
      <Table.Td>{ended ? <Badge color="gray">{ended}</Badge> : <Badge color="green">Active{k.expires_at ? ` until ${brief(k.expires_at)}` : ''}</Badge>}</Table.Td>
      <Table.Td ta="right">
        {!k.revoked_at && (
          <Group gap={4} wrap="nowrap" justify="flex-end">
            <Button variant="subtle" color="gray" onClick={() => edit(true)} aria-label={`Edit ${k.name || k.id}`}>
              Edit
            </Button>
            <Button variant="subtle" color="red" onClick={revoke} aria-label={`Revoke ${k.name || k.id}`}>
              Revoke
            </Button>
          </Group>
        )}
        {editing && <KeyForm of={k} onClose={() => edit(false)} />}
      </Table.Td>
    </Table.Tr>
  )
}

/** allowance is what may be called with a key, and for how much. */
function allowance(k: Key): string {
  const budgets = (k.spending ?? []).filter((s) => s.budget.hard_usd).map((s) => `${money(s.spent.cost_usd)} of ${money(s.budget.hard_usd ?? 0)} a ${s.period}`)
  return [k.models?.length ? k.models.join(', ') : 'all models', ...budgets].join(' · ')
}
