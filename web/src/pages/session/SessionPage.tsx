import { Button, Group, Stack, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { activateSession, agentQuery, sessionQuery } from '../../api/agents'
import { exportAddress, sessionCalls } from '../../api/events'
import { incidentExcerptQuery, newestIncidents } from '../../api/incidents'
import type { Event, Incident, Session } from '../../api/shapes'
import { verdictOf } from '../../api/verdict'
import { count, money, short } from '../../format/figures'
import { brief, clock, span } from '../../format/time'
import { SessionBadge } from '../../parts/AgentState'
import { ButtonLink } from '../../parts/ButtonLink'
import { Fact, Facts } from '../../parts/Facts'
import { ActionBadge } from '../../parts/IncidentBadges'
import { AgentLink } from '../../parts/links'
import { Loaded } from '../../parts/Loaded'
import { done } from '../../parts/notify'
import { Resume } from '../../parts/Resume'
import { Section } from '../../parts/Section'
import { SessionUse } from '../../parts/SessionUse'
import { useChange } from '../../parts/useChange'
import { useTitle } from '../../parts/useTitle'
import { numbersOf, type Scene, sceneOf, upTo } from '../incident/scene'
import { saidOf } from './lines'
import { TokenChart } from './TokenChart'
import { type Shown, Waterfall } from './Waterfall'

/** SessionPage is one conversation, call by call. */
export default function SessionPage() {
  const { id: agent, session: id } = useParams({ from: '/shell/agents/$id/sessions/$session' })
  const query = useQuery(sessionQuery(agent, id))
  useTitle(`Session ${id} of ${agent}`)
  return (
    <Loaded query={query} thing={`session ${id}`} page rows={4} rowHeight={80}>
      {(session) => <Page key={`${agent} ${id}`} session={session} />}
    </Loaded>
  )
}

function Page({ session }: { session: Session }) {
  const calls = useQuery(sessionCalls(session.agent, session.id))
  const agent = useQuery(agentQuery(session.agent)).data
  const incident = useQuery(newestIncidents({ agent: session.agent, session: session.id, kind: 'kill_switch' }, 1)).data?.rows[0]
  const scene = useMemo(() => incident && calls.data && sceneIn(incident, calls.data.calls), [incident, calls.data])
  const excerpt = useQuery({ ...incidentExcerptQuery(incident?.id ?? ''), enabled: incident !== undefined }).data
  const said = useMemo(() => (incident ? saidOf(verdictOf(incident), excerpt) : new Map()), [incident, excerpt])
  const search = useSearch({ from: '/shell/agents/$id/sessions/$session' })
  const navigate = useNavigate()
  const show = (change: Shown) =>
    void navigate({ to: '/agents/$id/sessions/$session', params: { id: session.agent, session: session.id }, search: { ...search, ...change }, replace: true, resetScroll: false })
  return (
    <Stack gap="md">
      <Header session={session} incident={incident} scene={scene} />
      <Strip session={session} />
      {agent && <SessionUse session={session} limits={agent.policy.session} />}
      <Loaded query={calls} thing="the calls of this session" rows={6} rowHeight={40}>
        {({ calls, whole }) => (
          <>
            <Section title="Prompt tokens per call" aside={scene && 'the frame marks the window'}>
              <TokenChart calls={calls} scene={scene} />
            </Section>
            <Waterfall calls={calls} whole={whole} scene={scene} said={said} shown={search} onShow={show} />
          </>
        )}
      </Loaded>
    </Stack>
  )
}

function sceneIn(incident: Incident, calls: Event[]): Scene | undefined {
  return sceneOf(incident, verdictOf(incident), upTo(incident, calls), numbersOf(calls))
}

function Header({ session, incident, scene }: { session: Session; incident: Incident | undefined; scene: Scene | undefined }) {
  const { busy, change } = useChange()
  const [asking, ask] = useState(false)
  const at = scene?.entries.at(-1)?.number
  const resume = async (grace: number) => {
    const made = await change('Not resumed. Nothing has changed.', () => activateSession(session.agent, session.id, grace || undefined))
    ask(false)
    if (made) done('The session is active again.', `Rounds before ${clock(Date.now())} no longer count.`)
  }
  return (
    <Group justify="space-between">
      <Group gap="sm" style={{ minWidth: 0 }}>
        <Title order={1} style={{ overflowWrap: 'anywhere' }}>
          {session.id}
        </Title>
        <SessionBadge session={session} />
        {session.standing.active && incident && <ActionBadge incident={incident} at={at} />}
      </Group>
      <Group gap="xs">
        <Button component="a" href={exportAddress({ agent: session.agent, session: session.id }, 'jsonl')} download>
          Export
        </Button>
        {!session.standing.active && <Button onClick={() => ask(true)}>Resume session</Button>}
        {incident && (
          <ButtonLink to="/incidents/$id" params={{ id: incident.id }} variant="filled">
            Open incident
          </ButtonLink>
        )}
      </Group>
      <Resume name={asking ? `session ${session.id}` : undefined} busy={busy} onCancel={() => ask(false)} onResume={resume} />
    </Group>
  )
}

function Strip({ session }: { session: Session }) {
  const t = session.totals
  return (
    <Facts>
      <Fact name="Agent">
        <AgentLink id={session.agent} />
      </Fact>
      <Fact name="Started, lasted" aside={span(new Date(session.last_seen).getTime() - new Date(session.first_seen).getTime())}>
        {brief(session.first_seen)}
      </Fact>
      <Fact name="Calls" aside={t.blocked > 0 ? `${count(t.blocked)} of them blocked` : undefined}>
        {count(t.calls)}
      </Fact>
      <Fact name="Prompt tokens">{short(t.tokens.input)}</Fact>
      <Fact name="Cost">{money(t.cost_usd)}</Fact>
      <Fact name="Client"><bdi>{session.client || 'unknown'}</bdi></Fact>
      <Fact name="Model"><bdi>{session.model || 'unknown'}</bdi></Fact>
    </Facts>
  )
}
