import { Alert, Button, Group, PasswordInput, Stack } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { reason } from '../api/client'
import { choosePassword } from '../api/users'

const shortest = 12

/** PasswordForm chooses a password, the first one or another. */
export function PasswordForm({ name, first, onDone }: { name: string; first: boolean; onDone: () => void }) {
  const [current, setCurrent] = useState('')
  const [password, setPassword] = useState('')
  const [error, setError] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const submit = async (e: FormEvent) => {
    e.preventDefault()
    setBusy(true)
    setError(undefined)
    try {
      await choosePassword(password, first ? undefined : current)
      setCurrent('')
      setPassword('')
      onDone()
    } catch (e) {
      setError(e)
    }
    setBusy(false)
  }
  return (
    <form onSubmit={(e) => void submit(e)}>
      <Stack gap="md">
        <input type="hidden" name="username" autoComplete="username" value={name} />
        {!first && <PasswordInput label="Password until now" autoComplete="current-password" maxLength={200} value={current} onChange={(e) => setCurrent(e.currentTarget.value)} />}
        <PasswordInput label="New password" description={`At least ${shortest} characters.`} autoComplete="new-password" maxLength={200} value={password} onChange={(e) => setPassword(e.currentTarget.value)} />
        {error !== undefined && (
          <Alert color="red" variant="light" role="alert">
            {reason(error)}
          </Alert>
        )}
        <Group>
          <Button type="submit" variant="filled" loading={busy} disabled={[...password].length < shortest || (!first && current === '')}>
            {first ? 'Choose this password' : 'Change the password'}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
