import { Alert, Badge, Button, Group, Modal, Select, Stack, Table, Text, TextInput } from '@mantine/core'
import { modals } from '@mantine/modals'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { reason } from '../../api/client'
import { createToken, meQuery, revokeToken, type Role, tokensQuery } from '../../api/service'
import type { Token } from '../../api/shapes'
import { brief } from '../../format/time'
import { Empty } from '../../parts/Empty'
import { Loaded } from '../../parts/Loaded'
import { done } from '../../parts/notify'
import { roles } from '../../parts/roles'
import { Section } from '../../parts/Section'
import { ShownOnce } from '../../parts/ShownOnce'
import { useChange } from '../../parts/useChange'
import { actions, WideTable } from '../../parts/WideTable'

/** Tokens are those of programs, and of people's commands; admins alone see them. */
export function Tokens() {
  const me = useQuery(meQuery).data
  if (me?.role !== 'admin') return null
  return <AllTokens />
}

function AllTokens() {
  const query = useQuery(tokensQuery)
  const [making, make] = useState(false)
  return (
    <Section title="API tokens" aside="for programs and commands; the audit log names who acts" actions={<Button onClick={() => make(true)}>New token</Button>}>
      <Loaded query={query} thing="tokens">
        {(tokens) =>
          tokens.length === 0 ? (
            <Empty title="No API token">Give each program one, with a name and a role; people sign in as users.</Empty>
          ) : (
            <WideTable columns={['Name', 'Role', 'Token', 'Created', 'State', actions]} minWidth={640}>
              {tokens.map((t) => (
                <Row key={t.id} of={t} />
              ))}
            </WideTable>
          )
        }
      </Loaded>
      {making && <NewToken onClose={() => make(false)} />}
    </Section>
  )
}

function Row({ of: t }: { of: Token }) {
  const { change } = useChange()
  const ended = t.revoked_at ? `Revoked ${brief(t.revoked_at)}` : t.expires_at && new Date(t.expires_at) < new Date() ? `Expired ${brief(t.expires_at)}` : undefined
  const revoke = () =>
    modals.openConfirmModal({
      title: `Revoke the token of ${t.name}?`,
      children: <Text size="sm" c="dimmed">Its sign-ins end, too. This cannot be undone.</Text>,
      labels: { confirm: 'Revoke', cancel: 'Cancel' },
      confirmProps: { variant: 'filled', color: 'red' },
      onConfirm: async () => {
        if (await change('Not revoked.', () => revokeToken(t.id))) done('Token revoked.')
      },
    })
  return (
    <Table.Tr>
      <Table.Td maw={240} style={{ overflowWrap: 'anywhere' }}>
        {t.name}
      </Table.Td>
      <Table.Td>{t.role}</Table.Td>
      <Table.Td className="mono">{t.id}</Table.Td>
      <Table.Td c="dimmed">
        {brief(t.created_at)}, by {t.created_by}
      </Table.Td>
      <Table.Td>{ended ? <Badge color="gray">{ended}</Badge> : <Badge color="green">Active{t.expires_at ? ` until ${brief(t.expires_at)}` : ''}</Badge>}</Table.Td>
      <Table.Td ta="right">
        {!ended && (
          <Button variant="subtle" color="red" onClick={revoke} aria-label={`Revoke the token of ${t.name}`}>
            Revoke
          </Button>
        )}
      </Table.Td>
    </Table.Tr>
  )
}

const spans = [
  { value: '', label: 'never' },
  { value: '7', label: 'in a week' },
  { value: '90', label: 'in 90 days' },
  { value: '365', label: 'in a year' },
]

function NewToken({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('viewer')
  const [days, setDays] = useState('')
  const [secret, setSecret] = useState<string>()
  const [error, setError] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const save = async () => {
    setBusy(true)
    setError(undefined)
    try {
      const expires = days ? new Date(Date.now() + Number(days) * 86_400_000).toISOString() : undefined
      setSecret((await createToken(name.trim(), role, expires)).secret)
      await queries.invalidateQueries({ queryKey: tokensQuery.queryKey })
    } catch (e) {
      setError(e)
    }
    setBusy(false)
  }
  if (secret) {
    return (
      <ShownOnce title="The new token" what="the token" secret={secret} onClose={onClose}>
        It signs in to the dashboard; in HALTD_ADMIN_TOKEN it serves the commands.
      </ShownOnce>
    )
  }
  return (
    <Modal opened onClose={onClose} title="New API token">
      <Stack gap="md">
        <TextInput label="Name" description="Of the program, or of the person whose commands use it; the audit log says who acted." value={name} onChange={(e) => setName(e.currentTarget.value)} maxLength={100} data-autofocus />
        <Select label="Role" data={roles} value={role} onChange={(v) => setRole((v ?? 'viewer') as Role)} allowDeselect={false} />
        <Select label="Expires" data={spans} value={days} onChange={(v) => setDays(v ?? '')} allowDeselect={false} />
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
            Create token
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
