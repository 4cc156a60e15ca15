import { Alert, Button, Card, Code, Group, PasswordInput, Stack, Text, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { Problem, reason } from '../../api/client'
import { signIn } from '../../api/service'
import { Logo } from '../../shell/Logo'
import { useTitle } from '../../parts/useTitle'

/** SignIn takes the admin token or an API token, or the code of a one-time link. */
export default function SignIn() {
  useTitle('Sign in')
  const { next } = useSearch({ from: '/sign-in' })
  const navigate = useNavigate()
  const queries = useQueryClient()
  const [token, setToken] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const used = useRef(false)

  const enter = async (proof: { token: string } | { code: string }) => {
    setBusy(true)
    setError(undefined)
    try {
      await signIn(proof)
      queries.clear()
      await navigate({ to: next ?? '/', replace: true })
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
    if (token.trim()) void enter({ token: token.trim() })
  }

  return (
    <Stack component="main" maw={400} mx="auto" px="md" pt={{ base: 48, sm: 120 }} gap="lg">
      <Group gap="xs">
        <Logo size={28} />
        <Title order={1}>haltd</Title>
      </Group>
      <Card padding="lg" component="form" onSubmit={submit}>
        <Stack gap="md">
          <div>
            <Text fw={600}>Sign in</Text>
            <Text size="sm" c="dimmed">
              Use the one-time link that <Code>haltd sign-in</Code> prints, or paste a token.
            </Text>
          </div>
          <PasswordInput
            label="Token"
            description="Yours, which says in the audit log who you are; or the admin token, in the file admin.token of the data directory unless the configuration names another."
            value={token}
            onChange={(e) => setToken(e.currentTarget.value)}
            autoComplete="current-password"
            autoFocus
          />
          {error !== undefined && (
            <Alert color="red" variant="light" role="alert">
              {wording(error)}
            </Alert>
          )}
          <Button type="submit" variant="filled" size="md" loading={busy} disabled={token.trim() === ''}>
            Sign in
          </Button>
        </Stack>
      </Card>
    </Stack>
  )
}

function wording(error: unknown): string {
  if (error instanceof Problem && error.status === 401) {
    return 'This token is not valid, or the link was used before or has expired. Links work once, for ten minutes: run haltd sign-in for a new one, or paste the token.'
  }
  return reason(error)
}
