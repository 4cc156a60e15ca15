import { Alert, Button, Card, Code, Group, PasswordInput, SegmentedControl, Stack, Text, TextInput, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { Problem, reason } from '../../api/client'
import { type Proof, signIn } from '../../api/service'
import { accountQuery } from '../../api/users'
import { Logo } from '../../shell/Logo'
import { PasswordForm } from '../../parts/PasswordForm'
import { useTitle } from '../../parts/useTitle'

// byName remembers how this browser signs in.
const byName = 'haltd-sign-in-by-name'

/** SignIn takes a name and a password, the admin token or an API token, or the
 *  code of a one-time link. Who has no password yet chooses one. */
export default function SignIn() {
  useTitle('Sign in')
  const { next } = useSearch({ from: '/sign-in' })
  const navigate = useNavigate()
  const queries = useQueryClient()
  const [named, setNamed] = useState(() => localStorage.getItem(byName) === 'yes')
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const [token, setToken] = useState('')
  const [newcomer, setNewcomer] = useState<string>()
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const used = useRef(false)

  const goOn = () => navigate({ to: next ?? '/', replace: true })

  const choose = (how: string) => {
    setNamed(how === 'name')
    localStorage.setItem(byName, how === 'name' ? 'yes' : 'no')
  }

  const enter = async (proof: Proof) => {
    setBusy(true)
    setError(undefined)
    try {
      await signIn(proof)
      queries.clear()
      if ('code' in proof) {
        const me = await queries.fetchQuery(accountQuery)
        if (me.password === 'missing') {
          setNewcomer(me.actor)
          return
        }
      }
      await goOn()
    } catch (e) {
      setError(e)
      setBusy(false)
    }
  }

  useEffect(() => {
    const code = new URLSearchParams(window.location.hash.slice(1)).get('code')
    if (!code || used.current) return
    used.current = true // a code works once
    window.history.replaceState(window.history.state, '', window.location.pathname + window.location.search)
    void enter({ code })
  })

  const submit = (e: FormEvent) => {
    e.preventDefault()
    if (named) void enter({ name: name.trim(), password })
    else if (token.trim()) void enter({ token: token.trim() })
  }
  const ready = named ? name.trim() !== '' && password !== '' : token.trim() !== ''

  if (newcomer) {
    return (
      <Frame>
        <Card padding="lg">
          <Stack gap="md">
            <div>
              <Text fw={600}>Welcome, {newcomer}</Text>
              <Text size="sm" c="dimmed">
                Choose a password. From now on you sign in with it and your name.
              </Text>
            </div>
            <PasswordForm
              name={newcomer}
              first
              onDone={() => {
                choose('name')
                queries.clear()
                void goOn()
              }}
            />
          </Stack>
        </Card>
      </Frame>
    )
  }

  return (
    <Frame>
      <Card padding="lg" component="form" onSubmit={submit}>
        <Stack gap="md">
          <div>
            <Text fw={600}>Sign in</Text>
            <Text size="sm" c="dimmed">
              Use the one-time link that <Code>haltd sign-in</Code> prints, your name and password, or a token.
            </Text>
          </div>
          <SegmentedControl
            aria-label="Sign in with"
            value={named ? 'name' : 'token'}
            onChange={choose}
            data={[
              { value: 'token', label: 'Token' },
              { value: 'name', label: 'Name and password' },
            ]}
          />
          {named ? (
            <>
              <TextInput label="Name" value={name} onChange={(e) => setName(e.currentTarget.value)} autoComplete="username" maxLength={100} autoFocus />
              <PasswordInput label="Password" value={password} onChange={(e) => setPassword(e.currentTarget.value)} autoComplete="current-password" maxLength={200} />
            </>
          ) : (
            <PasswordInput
              label="Token"
              description="An API token, or the admin token: in the file admin.token of the data directory unless the configuration names another."
              value={token}
              onChange={(e) => setToken(e.currentTarget.value)}
              autoComplete="current-password"
              autoFocus
            />
          )}
          {error !== undefined && (
            <Alert color="red" variant="light" role="alert">
              {wording(error, named)}
            </Alert>
          )}
          <Button type="submit" variant="filled" size="md" loading={busy} disabled={!ready}>
            Sign in
          </Button>
        </Stack>
      </Card>
    </Frame>
  )
}

function Frame({ children }: { children: ReactNode }) {
  return (
    <Stack component="main" maw={400} mx="auto" px="md" pt={{ base: 48, sm: 120 }} gap="lg">
      <Group gap="xs">
        <Logo size={28} />
        <Title order={1}>haltd</Title>
      </Group>
      {children}
    </Stack>
  )
}

function wording(error: unknown, named: boolean): string {
  if (!named && error instanceof Problem && error.status === 401) {
    return 'This token is not valid, or the link was used before or has expired. Links work once, for ten minutes: run haltd sign-in for a new one, or paste the token.'
  }
  return reason(error)
}
