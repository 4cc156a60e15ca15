import { Button, Group, Menu, Stack, Text, Title } from '@mantine/core'
import { modals } from '@mantine/modals'
import { IconDots, IconPlayerPlay } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { activateAgent, agentQuery, deactivateAgent, deleteAgent, statsQuery } from '../../api/agents'
import { newestEvents, triesQuery } from '../../api/events'
import { incidentQuery } from '../../api/incidents'
import type { AgentDetail } from '../../api/shapes'
import { count, money, short } from '../../format/figures'
import { brief, clock, full } from '../../format/time'
import { AgentBadge } from '../../parts/AgentState'
import { BlockStatus } from '../../parts/BlockStatus'
import { ButtonLink } from '../../parts/ButtonLink'
import { Fact, Facts } from '../../parts/Facts'
import { Loaded } from '../../parts/Loaded'
import { done } from '../../parts/notify'
import { Resume } from '../../parts/Resume'
import { wasSeen } from '../../parts/seen'
import { useChange } from '../../parts/useChange'
import { useTitle } from '../../parts/useTitle'
import { Banner } from '../../shell/Banners'
import { AgentCharts } from './AgentCharts'
import { Deactivate } from './Deactivate'
import { AgentEvents, AgentIncidents, AgentSessions } from './history'
import { KillSwitchCard } from './KillSwitchCard'
import { PolicyCard } from './PolicyCard'
import classes from './agent.module.css'

/** AgentPage is all about one agent: whether it may call, its Kill Switch,
 *  its policy, and what it did. */
export default function AgentPage() {
  const { id } = useParams({ from: '/shell/agents/$id' })
  const query = useQuery(agentQuery(id))
  useTitle(`Agent ${id}`)
  return (
    <Loaded query={query} thing={`agent ${id}`} page rows={4} rowHeight={80}>
      {(agent) => <Page key={agent.id} agent={agent} />}
    </Loaded>
  )
}

function Page({ agent }: { agent: AgentDetail }) {
  return (
    <Stack gap="md">
      <Header agent={agent} />
      {!agent.active && <Stopped agent={agent} />}
      <Today agent={agent} />
      <div className={classes.columns}>
        <AgentCharts agent={agent} />
        <KillSwitchCard agent={agent} />
      </div>
      <PolicyCard agent={agent} />
      <div className={classes.columns}>
        <AgentSessions agent={agent} />
        <AgentIncidents agent={agent} />
      </div>
      <AgentEvents agent={agent} />
    </Stack>
  )
}

function Header({ agent }: { agent: AgentDetail }) {
  const { busy, change } = useChange()
  const [asking, ask] = useState<'activate' | 'deactivate'>()

  const activate = async (grace: number) => {
    const made = await change('Not resumed.', () => activateAgent(agent.id, grace || undefined))
    ask(undefined)
    if (made) done(`${agent.id} is active again.`, `Rounds before ${clock(Date.now())} no longer count.`)
  }
  const deactivate = async (reason: string, now: boolean) => {
    const made = await change('Not stopped.', () => deactivateAgent(agent.id, reason, now))
    ask(undefined)
    if (made) done(`${agent.id} is stopped.`, 'Its next call gets the inactive answer.')
  }
  return (
    <Group justify="space-between">
      <Group gap="sm" style={{ minWidth: 0 }}>
        <Title order={1} className="clip" maw="100%">
          {agent.id}
        </Title>
        <AgentBadge agent={agent} size="lg" />
      </Group>
      <Group gap="xs">
        {agent.active ? (
          <Button onClick={() => ask('deactivate')}>Stop now</Button>
        ) : (
          <Button leftSection={<IconPlayerPlay size={14} />} onClick={() => ask('activate')}>
            Resume
          </Button>
        )}
        <More agent={agent} />
      </Group>
      <Resume name={asking === 'activate' ? agent.id : undefined} busy={busy} onCancel={() => ask(undefined)} onResume={activate} />
      <Deactivate name={agent.id} opened={asking === 'deactivate'} busy={busy} onCancel={() => ask(undefined)} onDeactivate={deactivate} />
    </Group>
  )
}

function More({ agent }: { agent: AgentDetail }) {
  const { change } = useChange()
  const navigate = useNavigate()
  const forget = () =>
    modals.openConfirmModal({
      title: `Delete the history of ${agent.id}?`,
      children: (
        <Text size="sm" c="dimmed">
          Its events, sessions and own policy are deleted from the record. A kill stays: an agent that was stopped is stopped when it comes back.
        </Text>
      ),
      labels: { confirm: 'Delete', cancel: 'Cancel' },
      confirmProps: { variant: 'filled', color: 'red' },
      onConfirm: async () => {
        if (await change('Not deleted.', () => deleteAgent(agent.id))) {
          done(`The history of ${agent.id} is deleted.`)
          await navigate({ to: '/agents' })
        }
      },
    })
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button px={8} aria-label="More actions">
          <IconDots size={16} />
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item component={Link} to="/events" search={{ agent: agent.id } as never}>
          All its events
        </Menu.Item>
        <Menu.Item color="red" onClick={forget}>
          Delete this agent’s history…
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

// Stopped says why every call is refused, and leads to the decision.
function Stopped({ agent }: { agent: AgentDetail }) {
  const { standing } = agent
  const incident = useQuery({ ...incidentQuery(standing.incident ?? ''), enabled: Boolean(standing.incident) }).data
  const blocked = useQuery(triesQuery({ agent: agent.id, since: standing.at })).data
  const last = blocked?.rows[0]
  const n = blocked?.rows.length ?? 0
  const byHand = standing.deactivated_by !== 'kill_switch'
  return (
    <Banner
      color={byHand ? 'amber' : 'red'}
      action={standing.incident && <ButtonLink to="/incidents/$id" params={{ id: standing.incident }}>Open incident</ButtonLink>}
    >
      <b>
        {byHand ? `Stopped by hand${standing.by ? ` by ${standing.by}` : ''}` : 'Stopped'}
        {standing.at ? ` at ${full(standing.at)}` : ''}
        {byHand ? (standing.why ? `: ${standing.why}` : '.') : incident ? `: ${incident.sentence}` : '.'}
      </b>
      <br />
      <Text span size="sm" c="dimmed">
        Every call now gets the inactive answer (<BlockStatus />).
        {last && ` ${count(n)}${blocked?.next ? ' or more' : ''} blocked since, the last at ${brief(last.time)}.`}
      </Text>
    </Banner>
  )
}

function Today({ agent }: { agent: AgentDetail }) {
  const day = agent.spending.find((s) => s.period === 'day')
  const stats = useQuery(statsQuery({ since: day?.start ?? '24h', step: '1h', agent: agent.id })).data
  const newest = useQuery(newestEvents({ agent: agent.id, type: ['llm_call', 'blocked'] }, 1)).data
  const last = newest?.rows[0]
  const t = stats?.totals
  return (
    <Facts>
      <Fact name="Calls today" aside={t && t.blocked > 0 ? `${count(t.blocked)} of them blocked` : undefined}>
        {t ? count(t.calls) : '…'}
      </Fact>
      <Fact name="Prompt tokens today">{t ? short(t.tokens.input) : '…'}</Fact>
      <Fact name="Spend today">{day ? money(day.spent.cost_usd) : t ? money(t.cost_usd) : '…'}</Fact>
      <Fact name="Client">{newest ? <bdi>{last?.client || 'none yet'}</bdi> : '…'}</Fact>
      <Fact name="Model">{newest ? <bdi>{last?.model || 'none yet'}</bdi> : '…'}</Fact>
      <Fact name="Last call">{wasSeen(agent.last_seen) ? `${brief(agent.last_seen)}${last?.blocked ? ', blocked' : ''}` : 'never'}</Fact>
    </Facts>
  )
}
