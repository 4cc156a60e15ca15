import { Alert, Badge, Button, Group, Modal, Select, Stack, Table, Text, TextInput } from '@mantine/core'
import { modals } from '@mantine/modals'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { reason } from '../../api/client'
import { meQuery, type Role } from '../../api/service'
import { accountQuery, addUser, changeRole, newLink, removeUser, usersQuery } from '../../api/users'
import type { User } from '../../api/shapes'
import { brief } from '../../format/time'
import { Empty } from '../../parts/Empty'
import { Loaded } from '../../parts/Loaded'
import { done } from '../../parts/notify'
import { PasswordForm } from '../../parts/PasswordForm'
import { roles } from '../../parts/roles'
import { Section } from '../../parts/Section'
import { ShownOnce } from '../../parts/ShownOnce'
import { useChange } from '../../parts/useChange'
import { actions, WideTable } from '../../parts/WideTable'

/** Users are the people who sign in by name and password; admins alone see
 *  them, and everybody his own password. */
export function Users() {
  const me = useQuery(meQuery).data
  return (
    <>
      <OwnPassword />
      {me?.role === 'admin' && <AllUsers />}
    </>
  )
}

function OwnPassword() {
  const queries = useQueryClient()
  const account = useQuery(accountQuery).data
  if (!account?.password) return null
  return (
    <Section title="Your password" aside={`you sign in as ${account.actor}`}>
      <PasswordForm
        name={account.actor}
        first={account.password === 'missing'}
        onDone={() => {
          done('Password chosen.', 'Other browsers are signed out.')
          void queries.invalidateQueries({ queryKey: accountQuery.queryKey })
        }}
      />
    </Section>
  )
}

function AllUsers() {
  const query = useQuery(usersQuery)
  const [adding, add] = useState(false)
  const [link, setLink] = useState<string>()
  return (
    <Section title="Users" aside="people, who sign in by name and password; the audit log names them" actions={<Button onClick={() => add(true)}>Add user</Button>}>
      <Loaded query={query} thing="users">
        {(users) =>
          users.length === 0 ? (
            <Empty title="No user">Add each person who should see or change something, with a role.</Empty>
          ) : (
            <WideTable columns={['Name', 'Role', 'Added', 'Password', actions]} minWidth={640}>
              {users.map((u) => (
                <Row key={u.id} of={u} onLink={setLink} />
              ))}
            </WideTable>
          )
        }
      </Loaded>
      {adding && <AddUser onClose={() => add(false)} onLink={setLink} />}
      {link && (
        <ShownOnce title="The link for this person" what="the link" secret={link} onClose={() => setLink(undefined)}>
          It works once, for three days, and leads to choosing a password. Send it to nobody else.
        </ShownOnce>
      )}
    </Section>
  )
}

function Row({ of: u, onLink }: { of: User; onLink: (link: string) => void }) {
  const { busy, change } = useChange()
  const setRole = async (role: Role) => {
    if (await change('The role was not changed.', () => changeRole(u.name, role))) done(`${u.name} is ${role} now.`)
  }
  const link = () =>
    modals.openConfirmModal({
      title: `Make a new link for ${u.name}?`,
      children: <Text size="sm" c="dimmed">The password until now and all sign-ins of {u.name} end.</Text>,
      labels: { confirm: 'Make a link', cancel: 'Cancel' },
      confirmProps: { variant: 'filled' },
      onConfirm: () => void change('No link was made.', async () => onLink((await newLink(u.name)).url)),
    })
  const remove = () =>
    modals.openConfirmModal({
      title: `Remove ${u.name}?`,
      children: <Text size="sm" c="dimmed">Sign-ins end, and API tokens of that name are revoked. The audit log keeps what it says.</Text>,
      labels: { confirm: 'Remove', cancel: 'Cancel' },
      confirmProps: { variant: 'filled', color: 'red' },
      onConfirm: async () => {
        if (await change('Not removed.', () => removeUser(u.name))) done(`${u.name} is removed.`)
      },
    })
  return (
    <Table.Tr>
      <Table.Td maw={240} style={{ overflowWrap: 'anywhere' }}>
        {u.name}
      </Table.Td>
      <Table.Td>
        <Select size="xs" w={120} aria-label={`Role of ${u.name}`} data={roles.map((r) => r.value)} value={u.role} disabled={busy} allowDeselect={false} onChange={(v) => v && v !== u.role && void setRole(v as Role)} />
      </Table.Td>
      <Table.Td c="dimmed">
        {brief(u.created_at)}, by {u.created_by}
      </Table.Td>
      <Table.Td>{u.password_set ? <Badge color="green">Chosen</Badge> : <Badge color="gray">Not yet chosen</Badge>}</Table.Td>
      <Table.Td ta="right">
        <Group gap={4} justify="flex-end" wrap="nowrap">
          <Button variant="subtle" onClick={link} aria-label={`New link for ${u.name}`}>
            New link
          </Button>
          <Button variant="subtle" color="red" onClick={remove} aria-label={`Remove ${u.name}`}>
            Remove
          </Button>
        </Group>
      </Table.Td>
    </Table.Tr>
  )
}

function AddUser({ onClose, onLink }: { onClose: () => void; onLink: (link: string) => void }) {
  const queries = useQueryClient()
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('viewer')
  const [error, setError] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const save = async () => {
    setBusy(true)
    setError(undefined)
    try {
      const made = await addUser(name.trim(), role)
      await queries.invalidateQueries({ queryKey: usersQuery.queryKey })
      onClose()
      onLink(made.url)
    } catch (e) {
      setError(e)
      setBusy(false)
    }
  }
  return (
    <Modal opened onClose={onClose} title="Add a user">
      <Stack gap="md">
        <TextInput label="Name" description="How the person signs in; the audit log says who acted." value={name} onChange={(e) => setName(e.currentTarget.value)} maxLength={100} data-autofocus />
        <Select label="Role" data={roles} value={role} onChange={(v) => setRole((v ?? 'viewer') as Role)} allowDeselect={false} />
        {error !== undefined && (
          <Alert color="red" variant="light" role="alert">
            {reason(error)}
          </Alert>
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="subtle" color="gray" onClick={onClose}>
            Cancel
          </Button>
          <Button variant="filled" onClick={() => void save()} loading={busy} disabled={name.trim() === ''}>
            Add user
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
