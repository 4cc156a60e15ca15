import { Button, Collapse, Group, NumberInput, SegmentedControl, Select, SimpleGrid, Switch, Text, UnstyledButton } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { modals } from '@mantine/modals'
import { IconAlertTriangle, IconCheck } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { changeKillSwitch } from '../../api/agents'
import { alertsStatusQuery, channelsQuery } from '../../api/alerts'
import { newestIncidents } from '../../api/incidents'
import type { AgentDetail, KillSwitch, KillSwitchChange } from '../../api/shapes'
import { certain, times } from '../../format/figures'
import { done } from '../../parts/notify'
import { Section } from '../../parts/Section'
import { useChange } from '../../parts/useChange'
import classes from './agent.module.css'

/** KillSwitchCard is always shown; off, its settings are there and disabled. */
export function KillSwitchCard({ agent }: { agent: AgentDetail }) {
  const now = agent.policy.kill_switch
  const { busy, change } = useChange()
  const [draft, setDraft] = useState<Partial<KillSwitch>>({})
  const [more, { toggle }] = useDisclosure(false)
  const shown: KillSwitch = { ...now, ...draft }
  const edited = (Object.keys(draft) as (keyof KillSwitch)[]).filter((k) => draft[k] !== now[k])
  const off = !now.enabled
  const crossed = shown.warn_at > shown.kill_at
  const edit = (part: Partial<KillSwitch>) => setDraft({ ...draft, ...part })

  const save = async () => {
    const changes = Object.fromEntries(edited.map((k) => [k, draft[k]])) as KillSwitchChange
    if (await change('Not saved.', () => changeKillSwitch(agent.id, changes))) {
      setDraft({})
      done('Saved.', 'Effective on the next call.')
    }
  }
  return (
    <Section title="Kill Switch" actions={<Toggle agent={agent} />}>
      <Text size="xs" c="dimmed" mt={-8} mb="sm">
        {off ? 'Off: haltd observes and blocks nothing' : 'On: similarity and stall may kill this agent'}
      </Text>
      <SimpleGrid cols={2} spacing="sm">
        <NumberInput
          label="Window size"
          value={shown.window_size}
          onChange={(v) => typeof v === 'number' && edit({ window_size: v })}
          min={2}
          max={1000}
          allowDecimal={false}
          disabled={off}
          hideControls
          rightSectionWidth={44}
          rightSection={<Unit word="calls" />}
        />
        <NumberInput
          label="Threshold"
          value={shown.threshold}
          onChange={(v) => typeof v === 'number' && edit({ threshold: v })}
          min={0.1}
          max={10000}
          step={0.5}
          decimalScale={1}
          fixedDecimalScale
          disabled={off}
          hideControls
          rightSectionWidth={44}
          rightSection={<Unit word="score" />}
        />
      </SimpleGrid>
      <Text size="xs" c="dimmed" my="sm">
        Kills when similar prompts × 1.0 + similar responses × 2.0 + repeated tool calls × 1.5 exceeds the threshold.
      </Text>
      <SimpleGrid cols={2} spacing="sm">
        <Certainty label="Warn line" value={shown.warn_at} onChange={(v) => edit({ warn_at: v })} disabled={off} error={crossed && `Above the kill line of ${certain(shown.kill_at)}`} />
        <Certainty label="Kill line" value={shown.kill_at} onChange={(v) => edit({ kill_at: v })} disabled={off} />
      </SimpleGrid>
      <Text size="xs" c="dimmed" my="sm">
        Stall warns and kills from these lines on: how certain haltd is that the agent is stuck.
      </Text>
      <WouldHave agent={agent} />
      <Setting name="Window is kept per">
        <Scope label="Window is kept per" value={shown.window_scope} onChange={(v) => edit({ window_scope: v })} disabled={off || agent.shared} />
      </Setting>
      <Setting name="Require a second signal to kill" aside="One signal alone only warns">
        <Switch
          aria-label="Require a second signal to kill"
          checked={shown.require_corroboration}
          onChange={(e) => edit({ require_corroboration: e.currentTarget.checked })}
          disabled={off}
        />
      </Setting>
      <Setting name="Other settings" aside={`similarity ${shown.similarity}s · stall ${shown.stall}s · stops the ${shown.kill_scope}`}>
        <UnstyledButton onClick={toggle} aria-expanded={more} c="var(--accent)" fz={13}>
          {more ? 'Hide' : 'Edit'}
        </UnstyledButton>
      </Setting>
      <Collapse expanded={more}>
        <MoreSettings shown={shown} edit={edit} disabled={off} shared={agent.shared} />
      </Collapse>
      <AlertsTo />
      {edited.length > 0 && (
        <Group gap="xs" mt="sm">
          <Button variant="filled" loading={busy} disabled={crossed} onClick={save}>
            Save, effective on the next call
          </Button>
          <Button variant="subtle" color="gray" onClick={() => setDraft({})}>
            Cancel
          </Button>
        </Group>
      )}
    </Section>
  )
}

// Certainty is a line for the certainty of stall.
function Certainty({ label, value, onChange, disabled, error }: { label: string; value: number; onChange: (v: number) => void; disabled: boolean; error?: ReactNode }) {
  return (
    <NumberInput
      label={label}
      value={value}
      onChange={(v) => typeof v === 'number' && onChange(v)}
      min={1}
      max={99.9}
      step={1}
      decimalScale={1}
      disabled={disabled}
      error={error}
      hideControls
      rightSectionWidth={44}
      rightSection={<Unit word="%" />}
    />
  )
}

// Toggle turns the switch at once. With nobody to hear of a kill it asks
// first.
function Toggle({ agent }: { agent: AgentDetail }) {
  const { busy, change } = useChange()
  const navigate = useNavigate()
  const alerts = useQuery(alertsStatusQuery).data
  const on = agent.policy.kill_switch.enabled

  const turn = async (enabled: boolean) => {
    if (await change('The Kill Switch was not turned.', () => changeKillSwitch(agent.id, { enabled }))) {
      done(enabled ? `Kill Switch of ${agent.id} is on.` : `Kill Switch of ${agent.id} is off.`, enabled ? 'From the next call on.' : 'haltd observes and blocks nothing.')
    }
  }
  const askFirst = () => {
    const id = modals.open({
      title: 'Nobody would hear about a kill',
      children: (
        <>
          <Text size="sm" c="dimmed" mb="lg">
            No alert channel is configured. {agent.id} would be stopped when it loops, and you would find out when you look here.
          </Text>
          <Group justify="flex-end" gap="xs">
            <Button variant="subtle" color="gray" onClick={() => modals.close(id)}>
              Cancel
            </Button>
            <Button
              onClick={() => {
                modals.close(id)
                void turn(true)
              }}
            >
              Enable anyway
            </Button>
            <Button
              variant="filled"
              data-autofocus
              onClick={() => {
                modals.close(id)
                void navigate({ to: '/alerts' })
              }}
            >
              Configure now
            </Button>
          </Group>
        </>
      ),
    })
  }
  return (
    <Switch
      aria-label="Kill Switch"
      size="md"
      checked={on}
      disabled={busy}
      onChange={() => (!on && alerts && !alerts.configured ? askFirst() : void turn(!on))}
    />
  )
}

function WouldHave({ agent }: { agent: AgentDetail }) {
  const shadow = useQuery(newestIncidents({ agent: agent.id, kind: 'kill_switch', shadow: 'true', since: '7d' }, 100)).data
  const sessions = new Set(shadow?.rows.filter((i) => i.action === 'kill').map((i) => i.session))
  if (agent.policy.kill_switch.enabled || sessions.size === 0) return null
  return (
    <Text size="sm" mb="sm">
      <Text span inherit fw={600} c="var(--amber)">
        Would have killed {times(sessions.size, 'session')}
      </Text>{' '}
      in the last 7 days.{' '}
      <Link to="/incidents" search={{ agent: agent.id }}>
        See {sessions.size === 1 ? 'it' : 'them'}
      </Link>
    </Text>
  )
}

interface More {
  shown: KillSwitch
  edit: (part: Partial<KillSwitch>) => void
  disabled: boolean
  shared: boolean
}

const actions = [
  { value: 'kill', label: 'Kill' },
  { value: 'reject', label: 'Reject' },
  { value: 'warn', label: 'Warn' },
]

function MoreSettings({ shown, edit, disabled, shared }: More) {
  return (
    <>
      <Setting name="Similarity, when certain">
        <Select aria-label="Similarity, when certain" w={112} allowDeselect={false} data={actions} value={shown.similarity} onChange={(v) => v && edit({ similarity: v as KillSwitch['similarity'] })} disabled={disabled} />
      </Setting>
      <Setting name="Stall, when certain">
        <Select aria-label="Stall, when certain" w={112} allowDeselect={false} data={actions} value={shown.stall} onChange={(v) => v && edit({ stall: v as KillSwitch['stall'] })} disabled={disabled} />
      </Setting>
      <Setting name="A kill stops the" aside={shared ? 'Many share this agent: always the session' : undefined}>
        <Scope label="A kill stops the" value={shared ? 'session' : shown.kill_scope} onChange={(v) => edit({ kill_scope: v })} disabled={disabled || shared} />
      </Setting>
      <Setting name="Calls are independent" aside="Exempts cron jobs and evaluations from similarity">
        <Switch aria-label="Calls are independent of each other" checked={shown.stateless} onChange={(e) => edit({ stateless: e.currentTarget.checked })} disabled={disabled} />
      </Setting>
      <Setting name="Wait after a reject">
        <NumberInput
          aria-label="Wait after a reject, seconds"
          w={112}
          value={shown.retry_after_seconds}
          onChange={(v) => typeof v === 'number' && edit({ retry_after_seconds: v })}
          min={1}
          max={86400}
          allowDecimal={false}
          hideControls
          rightSection={<Unit word="s" />}
          disabled={disabled}
        />
      </Setting>
    </>
  )
}

function Scope({ label, value, onChange, disabled }: { label: string; value: string; onChange: (v: KillSwitch['kill_scope']) => void; disabled: boolean }) {
  return (
    <SegmentedControl
      aria-label={label}
      size="xs"
      value={value}
      onChange={(v) => onChange(v as KillSwitch['kill_scope'])}
      disabled={disabled}
      data={[
        { value: 'agent', label: 'Agent' },
        { value: 'session', label: 'Session' },
      ]}
    />
  )
}

function AlertsTo() {
  const status = useQuery(alertsStatusQuery).data
  const channels = useQuery(channelsQuery).data
  if (!status) return null
  const names = channels?.filter((c) => c.enabled).map((c) => c.name)
  return (
    <div className={classes.setting}>
      {status.configured ? (
        <Group gap={6} wrap="nowrap" style={{ minWidth: 0 }}>
          <IconCheck size={16} color="var(--green)" aria-hidden="true" />
          <span className="clip">Alerts go to {names?.length ? names.join(', ') : times(status.channels, 'channel')}</span>
        </Group>
      ) : (
        <Group gap={6} wrap="nowrap">
          <IconAlertTriangle size={16} color="var(--amber)" aria-hidden="true" />
          <span>No alert channel</span>
        </Group>
      )}
      <Link to="/alerts">Edit</Link>
    </div>
  )
}

function Setting({ name, aside, children }: { name: string; aside?: string; children: ReactNode }) {
  return (
    <div className={classes.setting}>
      <div style={{ minWidth: 0 }}>
        {name}
        {aside && (
          <Text size="xs" c="dimmed">
            {aside}
          </Text>
        )}
      </div>
      {children}
    </div>
  )
}

function Unit({ word }: { word: string }) {
  return (
    <Text size="xs" c="dimmed">
      {word}
    </Text>
  )
}
