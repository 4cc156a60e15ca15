import { Badge, Card, Code, Group, Loader, Stack, Tabs, Text, Title } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { IconCheck } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { alertsStatusQuery } from '../../api/alerts'
import { useEvents } from '../../api/live'
import { statusQuery } from '../../api/service'
import type { Event } from '../../api/shapes'
import { bytes, money } from '../../format/figures'
import { coarse, span } from '../../format/time'
import { ButtonLink } from '../../parts/ButtonLink'
import { Copy } from '../../parts/Copy'
import { Dot } from '../../parts/Dot'
import { Section } from '../../parts/Section'
import { useNow } from '../../parts/useNow'
import { useTitle } from '../../parts/useTitle'
import { type Client, clients, type Lines } from './clients'
import classes from './firstrun.module.css'

/** FirstRun teaches the first call, and sees it arrive. */
export function FirstRun({ onDone }: { onDone: () => void }) {
  useTitle('First call')
  const status = useQuery(statusQuery).data
  const gateway = status?.gateway ?? 'http://127.0.0.1:7070'
  const [chosen, choose] = useLocalStorage({ key: 'haltd-client', defaultValue: 'openai' })
  const client = clients[chosen] ?? clients.openai!
  return (
    <Stack gap="md">
      <div>
        <Title order={1}>Send the first call through haltd</Title>
        <Text c="dimmed">Change one address. Your key, your code and every byte of the reply stay as they are.</Text>
      </div>
      <div className={classes.columns}>
        <Card padding={0}>
          <Step n={1} title="Point your client at the gateway">
            <Tabs value={chosen} onChange={(v) => v && choose(v)} mb="sm">
              <Tabs.List aria-label="Client">
                {Object.entries(clients).map(([id, c]) => (
                  <Tabs.Tab key={id} value={id}>
                    {c.name}
                  </Tabs.Tab>
                ))}
              </Tabs.List>
            </Tabs>
            <Snippet lines={client.point(gateway)} what="the address" />
            <Text size="xs" c="dimmed" mt={6}>
              Without a name it also works: <code>{client.plain(gateway)}</code>. The agent is then named after the client.
            </Text>
          </Step>
          <Step n={2} title="Make any call">
            <FirstCall client={client} gateway={gateway} onDone={onDone} />
          </Step>
          <Step n={3} title="Decide what happens to a runaway" later>
            <Text size="sm" c="dimmed">
              Nothing is blocked yet. haltd observes, and shows what it would have stopped. Turn on the Kill Switch per agent when you trust it.
            </Text>
          </Step>
        </Card>
        <Stack gap="md">
          <ThisHaltd />
          <Section title="No key at hand?">
            <Text size="sm" c="dimmed" mb="sm">
              The demo has its own fake provider, a healthy agent and a looping one. The loop is stopped within ten seconds.
            </Text>
            <Snippet lines={{ text: 'haltd demo' }} what="the command" />
          </Section>
          <Section title="What is stored">
            <Text size="sm" c="dimmed">
              Hashes, lengths and tool names. What agents say only with an incident, redacted and sealed (<code>excerpts</code> turns that off or on for all calls), and provider keys never.
            </Text>
          </Section>
        </Stack>
      </div>
    </Stack>
  )
}

function Step({ n, title, later, children }: { n: number; title: string; later?: boolean; children: ReactNode }) {
  return (
    <section className={classes.step}>
      <span className={classes.number} data-later={later} aria-hidden="true">
        {n}
      </span>
      <div style={{ minWidth: 0 }}>
        <Text fw={600} size="lg" component="h2" m={0} mb="xs" lh="32px">
          {title}
        </Text>
        {children}
      </div>
    </section>
  )
}

function Snippet({ lines, what }: { lines: Lines; what: string }) {
  return (
    <div className={classes.snippet}>
      <pre>
        {lines.comment && <span className="muted"># {lines.comment}{'\n'}</span>}
        {lines.text}
      </pre>
      <Copy text={lines.text} what={what} />
    </div>
  )
}

function FirstCall({ client, gateway, onDone }: { client: Client; gateway: string; onDone: () => void }) {
  const [call, setCall] = useState<Event>()
  const [since] = useState(Date.now)
  const now = useNow(1000)
  useEvents((e) => {
    if (e.event_type === 'llm_call' || e.event_type === 'blocked') setCall((c) => c ?? e)
  })
  return (
    <>
      <Snippet lines={client.call(gateway)} what="the call" />
      <div role="status">
        {call ? (
          <div className={classes.received}>
            <IconCheck size={20} color="var(--green)" aria-hidden="true" />
            <div style={{ flex: 1, minWidth: 0 }}>
              <Text fw={600} c="var(--green)">
                First call received
              </Text>
              <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                {call.agent}, <bdi>{call.model}</bdi>, {call.status} in {span(call.latency_ms)}, {money(call.cost_usd)}
              </Text>
            </div>
            <ButtonLink to="/agents/$id" params={{ id: call.agent }} onClick={onDone}>
              Open agent
            </ButtonLink>
          </div>
        ) : (
          <div className={classes.waiting}>
            <Loader size={20} aria-hidden="true" />
            <div style={{ flex: 1 }}>
              <Text fw={600}>Waiting for the first call…</Text>
              <Text size="sm" c="dimmed">
                This line turns green by itself. No need to reload.
              </Text>
            </div>
            <Text size="xs" c="dimmed" aria-hidden="true">
              listening for {coarse(now - since)}
            </Text>
          </div>
        )}
      </div>
      <Text size="sm" mt="xs">
        Nothing arrives? Run <Code>haltd doctor</Code> in the same shell. It names what is in the way.
      </Text>
    </>
  )
}

function ThisHaltd() {
  const status = useQuery(statusQuery).data
  const alerts = useQuery(alertsStatusQuery).data
  if (!status) return null
  const ready = status.degraded.length === 0
  return (
    <Section title="This haltd" actions={<Badge color={ready ? 'green' : 'amber'}>{ready ? 'Ready' : 'Degraded'}</Badge>}>
      <Line name="Gateway" says={status.gateway} aside="for agents" mono />
      <Line name="Admin" says={status.admin} aside="this page" mono />
      <Line name="Record" says={bytes(status.store_bytes)} />
      {alerts && !alerts.configured && (
        <Line name="Alerts" says="No channel yet: nobody would hear about a kill." color="amber" aside={<ButtonLink to="/alerts">Add a channel</ButtonLink>} />
      )}
    </Section>
  )
}

function Line({ name, says, aside, mono, color = 'green' }: { name: string; says: string; aside?: ReactNode; mono?: boolean; color?: 'green' | 'amber' }) {
  return (
    <Group wrap="nowrap" gap="sm" align="flex-start" py="xs" style={{ borderTop: '1px solid var(--border)' }}>
      <span style={{ paddingTop: 2 }}>
        <Dot color={color} />
      </span>
      <div style={{ flex: 1, minWidth: 0 }}>
        <Text size="sm" fw={600}>
          {name}
        </Text>
        <Text size="xs" c="dimmed" className={mono ? 'mono' : undefined}>
          {says}
        </Text>
      </div>
      <Text size="xs" c="dimmed" component="div">
        {aside}
      </Text>
    </Group>
  )
}
