import { Alert, Autocomplete, Button, Group, Modal, NumberInput, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { changePolicy } from '../../api/agents'
import { reason } from '../../api/client'
import type { AgentDetail, Budget, PolicyChange } from '../../api/shapes'
import { done } from '../../parts/notify'
import { emptyWeek, rangesOf, type Week, weekOf } from './week'
import { WeekGrid } from './WeekGrid'

/** PolicyEditor changes budgets, hours and rates of one agent. Only what was
 *  edited becomes its own; the rest still comes from the defaults. */
export function PolicyEditor({ agent, onClose }: { agent: AgentDetail; onClose: () => void }) {
  const { policy } = agent
  const queries = useQueryClient()
  const [budgets, setBudgets] = useState(policy.budgets)
  const [rates, setRates] = useState(policy.rate_limits)
  const [zone, setZone] = useState(policy.time_zone)
  const [painted, setPainted] = useState<Week>()
  const [error, setError] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const kept = weekOf(policy.allowed_hours)
  const week = painted ?? kept.week
  const never = week.every((row) => !row.some(Boolean))

  const send = async (change: PolicyChange, said: string) => {
    setBusy(true)
    setError(undefined)
    try {
      await changePolicy(agent.id, change)
      await queries.invalidateQueries()
      done(said, 'Effective on the next call.')
      onClose()
    } catch (e) {
      setError(e)
    }
    setBusy(false)
  }
  const save = () => {
    const change: PolicyChange = {}
    if (!same(budgets, policy.budgets)) change.budgets = budgets
    if (!same(rates, policy.rate_limits)) change.rate_limits = rates
    if (zone !== policy.time_zone) change.time_zone = zone
    if (painted) change.allowed_hours = rangesOf(painted)
    void send(change, 'Policy saved.')
  }
  const reset = () => void send({ budgets: null, rate_limits: null, allowed_hours: null, time_zone: null }, 'Back to the defaults.')

  return (
    <Modal opened onClose={onClose} size={760} title={`Policy of ${agent.id}`}>
      <Stack gap="lg">
        <Part title="Budgets" aside="Soft alerts, hard blocks. 0 is no limit.">
          <BudgetFields name="Day" budget={budgets.day} onChange={(day) => setBudgets({ ...budgets, day })} />
          <BudgetFields name="Month" budget={budgets.month} onChange={(month) => setBudgets({ ...budgets, month })} />
        </Part>
        <Part title="Allowed hours" aside="Drag to paint, or arrows and Space.">
          <WeekGrid week={week} zone={zone} onPaint={setPainted} />
          <Group justify="space-between" mt="sm" align="flex-end">
            <Group gap="xs">
              <Button onClick={() => setPainted(emptyWeek(true))}>Always</Button>
              <Button onClick={() => setPainted(emptyWeek(false))}>Clear</Button>
            </Group>
            <Autocomplete
              label="Time zone"
              value={zone}
              onChange={setZone}
              data={['UTC', ...Intl.supportedValuesOf('timeZone')]}
              limit={8}
              w={240}
            />
          </Group>
          {never && (
            <Text size="xs" c="var(--amber)" mt="xs">
              An agent that may never call is better deactivated. Paint an hour, or choose Always.
            </Text>
          )}
          {!kept.exact && (
            <Text size="xs" c="dimmed" mt="xs">
              The present hours begin or end within an hour; painting makes them whole.
            </Text>
          )}
        </Part>
        <Part title="Rate limits" aside="Per minute. 0 is no limit.">
          <SimpleGrid cols={2}>
            <Amount label="Requests per minute" value={rates.requests_per_minute} onChange={(v) => setRates({ ...rates, requests_per_minute: v })} />
            <Amount label="Tokens per minute" value={rates.tokens_per_minute} onChange={(v) => setRates({ ...rates, tokens_per_minute: v })} />
          </SimpleGrid>
        </Part>
        {error !== undefined && (
          <Alert color="red" variant="light" role="alert">
            {reason(error)}
          </Alert>
        )}
        <Group justify="space-between">
          <Button variant="subtle" color="gray" onClick={reset} disabled={busy}>
            Reset to defaults
          </Button>
          <Group gap="xs">
            <Button variant="subtle" color="gray" onClick={onClose}>
              Cancel
            </Button>
            <Button variant="filled" onClick={save} loading={busy} disabled={never}>
              Save, effective on the next call
            </Button>
          </Group>
        </Group>
      </Stack>
    </Modal>
  )
}

function Part({ title, aside, children }: { title: string; aside: string; children: ReactNode }) {
  return (
    <section>
      <Group gap="xs" align="baseline" mb="xs">
        <Title order={3}>{title}</Title>
        <Text size="xs" c="dimmed">
          {aside}
        </Text>
      </Group>
      {children}
    </section>
  )
}

function BudgetFields({ name, budget, onChange }: { name: string; budget: Budget; onChange: (b: Budget) => void }) {
  return (
    <SimpleGrid cols={{ base: 2, sm: 4 }} mb="sm">
      <Amount label={`${name}, soft USD`} value={budget.soft_usd} onChange={(v) => onChange({ ...budget, soft_usd: v })} dollars />
      <Amount label={`${name}, hard USD`} value={budget.hard_usd} onChange={(v) => onChange({ ...budget, hard_usd: v })} dollars />
      <Amount label={`${name}, soft tokens`} value={budget.soft_tokens} onChange={(v) => onChange({ ...budget, soft_tokens: v })} />
      <Amount label={`${name}, hard tokens`} value={budget.hard_tokens} onChange={(v) => onChange({ ...budget, hard_tokens: v })} />
    </SimpleGrid>
  )
}

function Amount({ label, value, onChange, dollars }: { label: string; value: number; onChange: (v: number) => void; dollars?: boolean }) {
  return (
    <NumberInput
      label={label}
      value={value}
      onChange={(v) => onChange(typeof v === 'number' ? v : 0)}
      min={0}
      hideControls
      thousandSeparator=","
      allowDecimal={dollars}
      decimalScale={dollars ? 2 : 0}
      prefix={dollars ? '$' : undefined}
    />
  )
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
