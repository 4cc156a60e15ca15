import { Button, Collapse, Group, SimpleGrid, Switch, Text, UnstyledButton } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { modals } from '@mantine/modals'
import { IconAlertTriangle, IconCheck } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { changeKillSwitch, changePolicy } from '../../api/agents'
import { alertsStatusQuery, channelsQuery } from '../../api/alerts'
import { newestIncidents } from '../../api/incidents'
import { settingsQuery } from '../../api/settings'
import type { AgentDetail, Section as SectionOf, Setting } from '../../api/shapes'
import { times } from '../../format/figures'
import { done } from '../../parts/notify'
import { Section } from '../../parts/Section'
import { SettingField } from '../../parts/SettingField'
import { amount, changeOf, type Draft, faultOf, valueOf } from '../../parts/settings'
import { useChange } from '../../parts/useChange'
import { useWouldHave } from './useWouldHave'
import classes from './agent.module.css'

/** KillSwitchCard is always shown; off, its settings are there and disabled. */
export function KillSwitchCard({ agent }: { agent: AgentDetail }) {
  const off = !agent.policy.kill_switch.enabled
  const sections = useQuery(settingsQuery).data
  return (
    <Section title="Kill Switch" actions={<Toggle agent={agent} />}>
      <Text size="xs" c="dimmed" mt={-8} mb="sm">
        {off ? 'Off: haltd observes and blocks nothing' : 'On: similarity and stall may kill this agent'}
      </Text>
      <Reach agent={agent} />
      <WouldHave agent={agent} />
      {sections && <Settings agent={agent} sections={sections} />}
      <AlertsTo />
    </Section>
  )
}

// Reach says whom a kill would hit besides the one who loops.
function Reach({ agent }: { agent: AgentDetail }) {
  const { kill_scope: stops, window_scope: compares } = agent.policy.kill_switch
  if (agent.shared || (stops === 'session' && compares === 'session')) return null
  return (
    <Text size="xs" c="dimmed" mb="sm">
      {stops === 'agent'
        ? 'A kill stops the agent for everybody who uses it. Where strangers talk to it, as to a public bot, let a kill stop the session, and keep the window per session (Other settings).'
        : 'A kill stops one session, for calls of all of them: whoever says what somebody else repeats may be stopped for it. Keep the window per session (Other settings).'}
    </Text>
  )
}

const ownSection = 'kill_switch'

// Settings edits what the section declares, all but the switch itself.
function Settings({ agent, sections }: { agent: AgentDetail; sections: SectionOf[] }) {
  const { busy, change } = useChange()
  const [draft, setDraft] = useState<Draft>({})
  const [more, { toggle }] = useDisclosure(false)
  const all = sections.find((s) => s.name === ownSection)?.settings.filter((s) => s.path !== `${ownSection}.enabled`) ?? []
  const rare = all.filter((s) => s.rare)
  const inForce = (path: string) => valueOf(agent.policy, path)
  const shown = (path: string) => (path in draft ? draft[path] : inForce(path))
  const isOwn = (path: string) => path.slice(ownSection.length + 1) in (agent.override.kill_switch ?? {})
  const edited = Object.keys(draft).filter((path) => (draft[path] === null ? isOwn(path) : draft[path] !== inForce(path)))
  const wouldHave = useWouldHave(agent)
  const wrong = all.some((s) => faultOf(s, all, shown))

  const save = async () => {
    const changes = changeOf(Object.fromEntries(edited.map((path) => [path, draft[path]])))
    if (await change('Not saved.', () => changePolicy(agent.id, changes))) {
      setDraft({})
      done('Saved.', 'Effective on the next call.')
    }
  }
  const field = (s: Setting, labelled: boolean) => {
    const forced = agent.shared ? s.shared : undefined
    return (
      <SettingField
        key={s.path}
        setting={s}
        value={forced ?? shown(s.path)}
        placeholder={isOwn(s.path) ? 'inherited' : amount(s, inForce(s.path))}
        onChange={(v) => setDraft({ ...draft, [s.path]: v })}
        // A ladder is tried in shadow before the switch is on.
        disabled={forced !== undefined || (!agent.policy.kill_switch.enabled && s.type !== 'ladder')}
        error={faultOf(s, all, shown)}
        labelled={labelled}
        wouldHave={wouldHave}
      />
    )
  }
  const row = (s: Setting) => (
    <div key={s.path} className={classes.setting} style={s.type === 'ladder' ? { flexDirection: 'column', alignItems: 'stretch' } : undefined}>
      <div style={{ minWidth: 0 }}>{s.label}</div>
      {field(s, false)}
    </div>
  )
  const isFigure = (s: Setting) => s.type === 'integer' || s.type === 'number'
  const common = all.filter((s) => !s.rare)
  return (
    <>
      <SimpleGrid cols={2} spacing="sm" mb="sm">
        {common.filter(isFigure).map((s) => field(s, true))}
      </SimpleGrid>
      {common.filter((s) => !isFigure(s)).map(row)}
      {rare.length > 0 && (
        <div className={classes.setting}>
          <div>
            Other settings
            <Text size="xs" c="dimmed">
              {rare.filter((s) => s.type === 'choice').map((s) => `${s.label}${s.label.endsWith(' the') ? ' ' : ': '}${amount(s, shown(s.path))}`).join(' · ')}
            </Text>
          </div>
          <UnstyledButton onClick={toggle} aria-expanded={more} c="var(--accent)" fz={13}>
            {more ? 'Hide' : 'Edit'}
          </UnstyledButton>
        </div>
      )}
      <Collapse expanded={more}>{rare.map(row)}</Collapse>
      {edited.length > 0 && (
        <Group gap="xs" mb="sm">
          <Button variant="filled" loading={busy} disabled={wrong} onClick={save}>
            Save, effective on the next call
          </Button>
          <Button variant="subtle" color="gray" onClick={() => setDraft({})}>
            Cancel
          </Button>
        </Group>
      )}
    </>
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
    if (await change('The Kill Switch was not changed.', () => changeKillSwitch(agent.id, { enabled }))) {
      done(enabled ? `Kill Switch of ${agent.id} is on.` : `Kill Switch of ${agent.id} is off.`, enabled ? 'Effective on the next call.' : 'haltd observes and blocks nothing.')
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
        Would have stopped {times(sessions.size, 'session')}
        {shadow?.next ? ' or more' : ''}
      </Text>{' '}
      in the last 7 days.{' '}
      <Link to="/incidents" search={{ agent: agent.id, status: 'all', kind: 'kill_switch', shadow: 'true' }}>
        See {sessions.size === 1 ? 'it' : 'them'}
      </Link>
    </Text>
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
