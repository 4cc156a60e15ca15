import { Card, Group, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { agentQuery } from '../../api/agents'
import type { IncidentDetail, Signal, Verdict } from '../../api/shapes'
import { byStreak, scored } from '../../api/verdict'
import { certain, money, score, times } from '../../format/figures'
import { full } from '../../format/time'
import { Ago } from '../../parts/Ago'
import { AgentBadge } from '../../parts/AgentState'
import { Copy } from '../../parts/Copy'
import { ActionBadge, StatusBadge } from '../../parts/IncidentBadges'
import { Actions, Decided } from './Actions'
import { burnRate, Context } from './Context'
import { certaintyOf, stallThatDecided } from './certainty'
import { rungWords } from './rungWords'
import { refused, type Scene, stops } from './scene'
import classes from './incident.module.css'

interface Props {
  incident: IncidentDetail
  verdict: Verdict
  scene: Scene | undefined
}

/** VerdictCard is what happened, what it cost, and what to do. */
export function VerdictCard({ incident, verdict, scene }: Props) {
  return (
    <Card padding={0}>
      <div className={classes.verdict}>
        <div style={{ minWidth: 0 }}>
          <Group gap="xs" mb="xs">
            <ActionBadge incident={incident} />
            <StatusBadge incident={incident} />
            <Text size="sm" c="dimmed">
              {incident.detector && `by ${incident.detector === 'session' ? 'session limit' : incident.detector} · `}
              {full(incident.time)} · <span className={classes.ago}><Ago time={incident.time} /></span>
            </Text>
            <Copy text={window.location.href} label="Copy link" what="the link to this incident" quiet />
          </Group>
          <Title order={1} style={{ overflowWrap: 'anywhere' }}>
            {incident.sentence}
          </Title>
          <Text mt={6} c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            <Explanation incident={incident} verdict={verdict} scene={scene} />
          </Text>
        </div>
        <Money incident={incident} scene={scene} />
      </div>
      <Context incident={incident} />
      {incident.status !== 'open' && <Decided incident={incident} />}
      <Actions incident={incident} offered={incident.status === 'open'} />
    </Card>
  )
}

function Explanation({ incident, verdict, scene }: Props) {
  const stall = stallThatDecided(incident, verdict)
  const last = scene?.entries[scene.entries.length - 1]
  const call = last?.number === undefined ? 'The call' : `Call #${last.number}`
  const killed = incident.action === 'kill' && !incident.shadow
  const told = stall !== undefined && killed && incident.scope === 'agent'
  const agent = useQuery({ ...agentQuery(incident.agent), enabled: told }).data
  const off = agent ? !agent.active : incident.status === 'open'
  return (
    <>
      {stall ? <Certainty stall={stall} /> : <Score incident={incident} verdict={verdict} />}
      {rungWords(incident, call) ??
        limitWords(incident, verdict, call, refused(scene)) ??
        (stops(incident)
          ? `${call} was not forwarded${told ? `; ${incident.agent} ${off ? 'is' : 'was'} stopped` : ''}. `
          : incident.shadow
            ? 'The Kill Switch is off, so haltd only observes. '
            : 'Nothing was blocked. ')}
      {killed && !(told && off) && <StateNow incident={incident} />}
    </>
  )
}

// limitWords says what a limit lets pass from now on.
function limitWords(incident: IncidentDetail, verdict: Verdict, call: string, refused: boolean): string | undefined {
  if (!stops(incident)) return undefined
  const found = verdict.findings?.[0]
  if (incident.kind === 'budget_hard') {
    const period = found?.name === 'month' ? 'month' : 'day'
    if (found?.left) return `${call} was not forwarded. Calls that fit into what is left still pass. `
    return `${refused ? `${call} was not forwarded. ` : ''}Calls are refused until the ${period} ends (${incident.settings.time_zone}). `
  }
  if (incident.kind === 'session_limit') {
    const turn = found?.name?.startsWith('session.turn.')
    return `${call} was not forwarded. ${turn ? 'The session continues when a person writes.' : 'Other sessions still pass.'} `
  }
  if (incident.detector === 'exact') return `${call} was not forwarded. The agent stays active: only this request is refused, until it stops coming. `
  return undefined
}

function Certainty({ stall }: { stall: Signal }) {
  const certainty = certaintyOf(stall)
  if (certainty === undefined) return null
  return (
    <>
      Certainty <b style={{ color: 'var(--text)' }}>{certainty} %</b>
      {stall.kill_at !== undefined && `, kill line ${certain(stall.kill_at)}`}.{' '}
    </>
  )
}

// Where another detector decided, or equal calls were counted, the score has no
// part in it.
function Score({ incident, verdict }: { incident: IncidentDetail; verdict: Verdict }) {
  const similarity = scored(verdict)
  if (!similarity || incident.detector !== 'similarity' || byStreak(verdict)) return null
  return (
    <>
      Score <b style={{ color: 'var(--text)' }}>{score(similarity.score)}</b> exceeds the threshold of {score(similarity.threshold)} in a window of{' '}
      {similarity.window ?? incident.settings.kill_switch.window_size} calls.{' '}
    </>
  )
}

function StateNow({ incident }: { incident: IncidentDetail }) {
  const agent = useQuery(agentQuery(incident.agent)).data
  if (incident.scope === 'session') {
    return (
      <>
        Only the session was stopped:{' '}
        <Link to="/agents/$id/sessions/$session" params={{ id: incident.agent, session: incident.session }}>
          {incident.session}
        </Link>
      </>
    )
  }
  return (
    <>
      The agent is now:{' '}
      <Link to="/agents/$id" params={{ id: incident.agent }} style={{ verticalAlign: 'middle' }}>
        {agent ? <AgentBadge agent={agent} /> : incident.agent}
      </Link>
    </>
  )
}

function Money({ incident, scene }: { incident: IncidentDetail; scene: Scene | undefined }) {
  const rate = burnRate(incident, scene)
  const m = incident.money
  if (m.burned_calls === 0 && m.saved_usd === null) return null
  return (
    <div className={classes.money}>
      <div>
        <Text size="xs" c="dimmed">
          {incident.kind === 'growth' ? 'Spent on it' : 'Burned by the loop'}
        </Text>
        <div className={classes.amount} style={{ color: 'var(--red)' }}>
          {money(m.burned_usd)}
        </div>
        <Text size="xs" c="dimmed">
          {times(m.burned_calls, 'call')}
        </Text>
      </div>
      {rate !== undefined && (
        <div>
          <Text size="xs" c="dimmed">
            Burn rate
          </Text>
          <div className={classes.amount}>{money(rate)}</div>
          <Text size="xs" c="dimmed">
            a minute, while it {incident.kind === 'growth' ? 'grew' : 'repeated'}
          </Text>
        </div>
      )}
      <div>
        <Text size="xs" c="dimmed">
          Saved, estimate
        </Text>
        <div className={classes.amount} style={{ color: m.saved_usd === null ? 'var(--muted)' : 'var(--green)' }}>
          {m.saved_usd === null ? 'none' : money(m.saved_usd)}
        </div>
        <Text size="xs" c="dimmed">
          {m.saved_reason}
        </Text>
      </div>
    </div>
  )
}
