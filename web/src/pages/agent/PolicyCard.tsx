import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { rulesQuery } from '../../api/rules'
import { settingsQuery } from '../../api/settings'
import type { AgentDetail, Section as SectionOf } from '../../api/shapes'
import { minute, zone } from '../../format/time'
import { Budgets, hasBudget } from '../../parts/Budgets'
import { Section } from '../../parts/Section'
import { amount, saysSomething, valueOf } from '../../parts/settings'
import { PolicyEditor } from './PolicyEditor'
import { dayNames, inWords, placeIn, weekOf } from './week'
import { WeekGrid } from './WeekGrid'
import classes from './agent.module.css'

/** PolicyCard is what an agent is allowed, and how much of it is used. */
export function PolicyCard({ agent }: { agent: AgentDetail }) {
  const [editing, editor] = useDisclosure(false)
  const sections = useQuery(settingsQuery).data?.filter((s) => s.name !== 'kill_switch')
  const own = Object.keys(agent.override).filter((k) => k !== 'kill_switch').length > 0
  return (
    <Section
      title="Policy"
      aside={own ? `${agent.id}'s own; unset fields come from the file and the defaults` : 'from the file and the defaults'}
      actions={<Button onClick={editor.open}>Edit policy</Button>}
    >
      <div className={classes.policy}>
        <Spending agent={agent} />
        <Hours agent={agent} />
        <Limits agent={agent} sections={sections ?? []} />
      </div>
      {editing && sections && <PolicyEditor agent={agent} sections={sections} onClose={editor.close} />}
    </Section>
  )
}

function Spending({ agent }: { agent: AgentDetail }) {
  const day = agent.spending.find((s) => s.period === 'day')
  return (
    <div>
      <Head name="Budgets" aside={day && `day resets ${minute(day.resets)} ${zone(day.resets)}`} />
      {!hasBudget(agent) && (
        <Text size="sm" c="dimmed">
          None: nothing limits what this agent spends.
        </Text>
      )}
      <Budgets agent={agent} />
    </div>
  )
}

function Hours({ agent }: { agent: AgentDetail }) {
  const { allowed_hours: ranges, time_zone: zone } = agent.policy
  const now = placeIn(zone, new Date())
  const clock = `${String(Math.floor(now.minute / 60)).padStart(2, '0')}:${String(now.minute % 60).padStart(2, '0')}`
  return (
    <div style={{ minWidth: 0 }}>
      <Head name="Allowed hours" aside={zone} />
      <WeekGrid week={weekOf(ranges).week} zone={zone} />
      <Group justify="space-between" mt="xs" gap="xs">
        <Text size="xs" c="dimmed">
          {inWords(ranges)}
        </Text>
        <Text size="xs" c="dimmed">
          now {dayNames[now.day]} {clock}
        </Text>
      </Group>
    </div>
  )
}

// drawn are the sections that have a place of their own in the card.
const drawn = ['budgets', 'allowed_hours', 'time_zone']

function Limits({ agent, sections }: { agent: AgentDetail; sections: SectionOf[] }) {
  const rules = useQuery(rulesQuery).data?.filter((r) => r.enabled && (!r.condition.agent || r.condition.agent === agent.id)).length
  const settings = sections
    .filter((s) => !drawn.includes(s.name))
    .flatMap((s) => s.settings)
    .filter((s) => !s.rare || saysSomething(valueOf(agent.policy, s.path)))
  return (
    <div>
      <Head name="Limits" />
      <Stack gap="sm" fz={13}>
        {settings.map((s) => {
          const value = valueOf(agent.policy, s.path)
          return <Line key={s.path} name={s.label} value={value === 0 ? 'no limit' : amount(s, value)} />
        })}
        <Group justify="space-between">
          <span>Custom rules</span>
          <Link to="/rules">{rules === undefined ? 'Rules' : rules === 0 ? 'none' : `${rules} may apply`}</Link>
        </Group>
      </Stack>
    </div>
  )
}

function Head({ name, aside }: { name: string; aside?: string }) {
  return (
    <Group justify="space-between" mb="sm" gap="xs">
      <Title order={3}>{name}</Title>
      {aside && (
        <Text size="xs" c="dimmed">
          {aside}
        </Text>
      )}
    </Group>
  )
}

function Line({ name, value }: { name: string; value: string }) {
  return (
    <Group justify="space-between" wrap="nowrap" gap="xs">
      <span>{name}</span>
      <b style={{ flexShrink: 0 }}>{value}</b>
    </Group>
  )
}
