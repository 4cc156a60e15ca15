import { Badge, Button, Group as Row, Modal, Stack, Text, UnstyledButton } from '@mantine/core'
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { Problem } from '../../api/client'
import { decide, type Decision, remark } from '../../api/incidents'
import type { ListedIncident } from '../../api/shapes'
import { money, times } from '../../format/figures'
import { brief, zone } from '../../format/time'
import { ActionBadge, isStop, StatusBadge } from '../../parts/IncidentBadges'
import { AgentLink, IncidentLink } from '../../parts/links'
import { done } from '../../parts/notify'
import { useChange } from '../../parts/useChange'
import { costOf, dearestFirst, type Group, groupsOf, headline } from './groups'
import { remember } from './walk'
import classes from './incidents.module.css'

/** GroupList lists incidents, those of one cause as one row. Where there are
 *  more than are listed, a group may have more, too. */
export function GroupList({ incidents, grouped, byCost, more }: { incidents: ListedIncident[]; grouped: boolean; byCost: boolean; more: boolean }) {
  const found = grouped ? groupsOf(incidents) : incidents.map((i) => ({ key: i.id, incidents: [i] }))
  const groups = byCost ? dearestFirst(found) : found
  useEffect(() => remember(groups.flatMap((g) => g.incidents.map((i) => i.id))))
  return (
    <>
      <div className={`${classes.row} ${classes.head}`} aria-hidden="true">
        <span>Verdict</span>
        <span>What happened</span>
        <span>Detector</span>
        <span className={classes.cost}>Cost of repeats</span>
        <span className={classes.when}>Time, {zone()}</span>
      </div>
      <ul className={classes.list} aria-label="Incidents">
        {groups.map((g) => (
          <Item key={g.key} group={g} more={more} />
        ))}
      </ul>
    </>
  )
}

function Item({ group, more }: { group: Group; more: boolean }) {
  const [open, setOpen] = useState(false)
  const first = group.incidents[0]!
  const n = group.incidents.length
  return (
    <li className={classes.item}>
      <div className={classes.row}>
        <div className={classes.verdict}>
          <ActionBadge incident={first} />
          <StatusBadge incident={first} />
          {first.status === 'open' && group.incidents.every((i) => i.seen_at) && <Badge color="gray">Seen</Badge>}
        </div>
        <div className={classes.what}>
          <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
            {n === 1 ? (
              <Link to="/incidents/$id" params={{ id: first.id }} className={classes.sentence}>
                <bdi>{headline(group)}</bdi>
              </Link>
            ) : (
              <UnstyledButton className={classes.sentence} fw={600} fz="sm" onClick={() => setOpen(!open)} aria-expanded={open}>
                {open ? <IconChevronDown size={14} aria-hidden="true" /> : <IconChevronRight size={14} aria-hidden="true" />} <bdi>{headline(group)}</bdi>{' '}
                <Badge color="amber">× {n}</Badge>
              </UnstyledButton>
            )}
          </Text>
          <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            {n === 1 ? (
              <>
                <AgentLink id={first.agent} /> · <IncidentLink id={first.id} />
              </>
            ) : (
              `${times(n, 'incident')} of one cause${more ? ' among those shown' : ''}, within a day of each other`
            )}
          </Text>
        </div>
        <Text size="xs" c="dimmed" className={classes.detector}>
          {first.detector || first.kind.replace('_', ' ')}
        </Text>
        <Text size="sm" className={classes.cost} title="What the repeating calls cost" component="div">
          <Cost group={group} />
        </Text>
        <Text size="xs" c="dimmed" className={classes.when}>
          {brief(first.time)}
        </Text>
      </div>
      {open && <Members group={group} />}
    </li>
  )
}

// What the repeats of all incidents of a group cost together. A budget or limit
// is about more than repeats.
function Cost({ group }: { group: Group }) {
  const calls = group.incidents.reduce((n, i) => n + i.burned_calls, 0)
  if (calls === 0) return <span className="muted">none</span>
  return (
    <>
      {money(costOf(group))}
      <Text span inherit size="xs" c="dimmed" display="block">
        {times(calls, 'call')}
      </Text>
    </>
  )
}

function Members({ group }: { group: Group }) {
  return (
    <div className={classes.members}>
      {group.incidents[0]!.status === 'open' && <Bulk group={group} />}
      <ul className={classes.list}>
        {group.incidents.map((i) => (
          <li key={i.id} className={classes.member}>
            <AgentLink id={i.agent} />
            <IncidentLink id={i.id} />
            <Text span size="xs" c="dimmed">
              {brief(i.time)}
            </Text>
          </li>
        ))}
      </ul>
    </div>
  )
}

// Without a decision, all are acknowledged.
type Asked = { name: string; says: string; decision?: Decision }

// Bulk decides about all incidents of a group. It asks first and names whom.
function Bulk({ group }: { group: Group }) {
  const [asked, ask] = useState<Asked>()
  const { busy, change } = useChange()
  const n = group.incidents.length
  const first = group.incidents[0]!
  const stopped = isStop(first)
  const halted = stopped && first.action === 'halt'
  const choices: Asked[] = [
    {
      name: halted ? 'Keep all halted' : stopped ? 'Keep all stopped' : 'Close all',
      says: halted ? 'All continue when a person writes.' : stopped ? 'All stay off.' : 'Nothing else changes.',
      decision: { status: 'kept', expect: 'open' },
    },
  ]
  if (stopped) choices.push({ name: 'Resume all', says: 'All may call again; earlier repeats no longer count.', decision: { status: 'resumed', expect: 'open' } })
  // A limit that was reached is no mistake of a detector.
  if (!first.kind.startsWith('budget') && first.kind !== 'session_limit') {
    choices.push({ name: 'Mark all as wrong', says: stopped ? 'Keeps your label, and resumes all.' : 'Keeps your label.', decision: { status: 'false_positive', expect: 'open', resume: stopped || undefined } })
  }
  if (group.incidents.some((i) => !i.seen_at)) choices.push({ name: 'Acknowledge all', says: 'Seen; all stay open.' })
  const confirm = async ({ name, decision }: Asked) => {
    let made = 0
    await change(`${name}: ${decision ? 'not all were decided.' : 'not all were acknowledged.'}`, async () => {
      let taken: Problem | undefined
      for (const i of group.incidents) {
        try {
          await (decision ? decide(i.id, decision) : remark(i.id, { acknowledge: true }))
          made++
        } catch (error) {
          // Somebody else has decided about this one: the others still wait.
          if (!(error instanceof Problem) || error.status !== 409) throw error
          taken = error
        }
      }
      if (taken) throw taken
    })
    ask(undefined)
    if (made > 0) done(decision ? `${name}: ${made} of ${n} decided.` : `${made} of ${n} acknowledged.`)
  }
  const agents = [...new Set(group.incidents.map((i) => i.agent))]
  return (
    <Row gap="xs" mb="xs">
      {choices.map((c) => (
        <Button key={c.name} size="xs" onClick={() => ask(c)}>
          {c.name}
        </Button>
      ))}
      <Modal opened={asked !== undefined} onClose={() => ask(undefined)} title={`${asked?.name ?? ''}: ${times(n, 'incident')}?`}>
        {asked && (
          <Stack gap="md">
            <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
              {asked.says} {times(agents.length, 'agent')}: {agents.slice(0, 5).join(', ')}
              {agents.length > 5 && ` and ${agents.length - 5} more`}. Their repeats cost {money(costOf(group))}.
            </Text>
            <Row justify="flex-end">
              <Button variant="subtle" color="gray" onClick={() => ask(undefined)}>
                Cancel
              </Button>
              <Button variant="filled" data-autofocus loading={busy} onClick={() => void confirm(asked)}>
                {asked.name}
              </Button>
            </Row>
          </Stack>
        )}
      </Modal>
    </Row>
  )
}
