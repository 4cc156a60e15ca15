import { Button, Checkbox, Group, Modal, Stack, Text, Textarea } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { agentQuery, changeKillSwitch, deactivateAgent } from '../../api/agents'
import { alertsStatusQuery } from '../../api/alerts'
import { decide, type Decision } from '../../api/incidents'
import { useAllSettings } from '../../api/settings'
import type { IncidentDetail } from '../../api/shapes'
import { verdictOf } from '../../api/verdict'
import { times } from '../../format/figures'
import { brief, clock, coarse } from '../../format/time'
import { isStop } from '../../parts/IncidentBadges'
import { done } from '../../parts/notify'
import { Resume } from '../../parts/Resume'
import { useChange } from '../../parts/useChange'
import { Deactivate } from '../agent/Deactivate'
import { limitsOf } from './limits'
import { RaiseLimit } from './RaiseLimit'
import { endedByItself } from './rungWords'
import { stops } from './scene'
import classes from './incident.module.css'

type Asked = 'keep' | 'resume' | 'grace' | 'wrong' | 'stop' | 'switch' | 'raise'

const firstGrace = 30

/** Actions are the decisions about an incident, each with its consequence. A
 *  key only asks; Enter confirms. None is offered before the others. A question that
 *  is open stays open when somebody else decides: the answer is to what was asked. */
export function Actions({ incident, offered = true }: { incident: IncidentDetail; offered?: boolean }) {
  const [question, setQuestion] = useState<{ asks: Asked; of: IncidentDetail['status'] }>()
  const asked = question?.asks
  const ask = (what: Asked) => setQuestion({ asks: what, of: incident.status })
  const { busy, change } = useChange()
  const stopped = isStop(incident) && incident.status !== 'continued'
  const budget = incident.kind.startsWith('budget') || incident.kind === 'session_limit'
  const agent = useQuery({ ...agentQuery(incident.agent), enabled: offered && !stopped }).data
  const settings = useAllSettings()
  // The switch has no part in budgets, and growth only ever warns.
  const mayStop = !stopped && agent?.active === true
  const maySwitch = !stopped && !budget && incident.kind !== 'growth' && agent !== undefined && !agent.policy.kill_switch.enabled
  const limits = agent ? limitsOf(incident, verdictOf(incident), agent.policy, settings) : []
  const halted = incident.action === 'halt' // which a person in the session ends
  const who = incident.scope === 'session' ? `session ${incident.session}` : incident.agent
  useHotkeys(
    offered
      ? [
          ['K', () => ask('keep')],
          ['R', () => stopped && ask('resume')],
          ['G', () => stopped && ask('grace')],
          ['W', () => !budget && ask('wrong')],
          ['S', () => mayStop && ask('stop')],
          ['T', () => maySwitch && ask('switch')],
          ['B', () => limits.length > 0 && ask('raise')],
        ]
      : [],
  )
  const end = () => setQuestion(undefined)
  const make = async (otherwise: string, what: () => Promise<unknown>, title: string, message = '') => {
    const made = await change(otherwise, what)
    end()
    if (made) done(title, message)
  }
  const send = (decision: Decision, title: string, message: string) =>
    void make(`${decision.status === 'resumed' || decision.resume ? 'Not resumed' : 'Not saved'}. Nothing has changed.`, () => decide(incident.id, { ...decision, expect: question?.of as Decision['expect'] }), title, message)
  const resume = (minutes: number) =>
    send({ status: 'resumed', grace_minutes: minutes || undefined }, `${who} is active again.`, `Rounds before ${clock(Date.now())} no longer count.`)
  return (
    <>
      {offered && (
        <div className={classes.actions}>
          <Action name={stopped ? keepWords(halted) : 'Close'} letter="K" says={`${meanwhile(incident)} Closes this incident.`} onAsk={() => ask('keep')} />
          {stopped && (
            <>
              <Action name="Resume" letter="R" says="Lets it call again; earlier repeats no longer count." onAsk={() => ask('resume')} />
              <Action name="Resume with grace" letter="G" says={`Resume, and only warn for ${firstGrace} min.`} onAsk={() => ask('grace')} />
            </>
          )}
          {!budget && (
            <Action name="Mark as wrong" letter="W" says={stopped ? 'Keeps your label, then resumes.' : 'Keeps your label. Closes this incident.'} onAsk={() => ask('wrong')} />
          )}
          {mayStop && <Action name="Stop now" letter="S" says="Stops the agent by hand. The incident stays open." onAsk={() => ask('stop')} />}
          {maySwitch && <Action name="Turn the switch on" letter="T" says={`From the next call on, ${incident.detector === 'exact' ? 'similarity and stall may stop the agent.' : 'a loop like this stops the agent.'}`} onAsk={() => ask('switch')} />}
          {limits.length > 0 && (
            <Action
              name={incident.kind === 'session_limit' ? 'Raise the limit' : 'Raise the budget'}
              letter="B"
              says={`Asks for the new limit. ${incident.action === 'warn' ? 'Nothing was blocked.' : 'Calls pass again below it.'}`}
              onAsk={() => ask('raise')}
            />
          )}
        </div>
      )}
      <Resume name={asked === 'resume' || asked === 'grace' ? who : undefined} grace={asked === 'grace' ? firstGrace : 0} busy={busy} onCancel={end} onResume={resume} />
      <Modal opened={asked === 'keep'} onClose={end} title={stopped ? `Keep ${who} ${halted ? 'halted' : 'stopped'}?` : 'Close this incident?'}>
        <Keep
          confirm={stopped ? keepWords(halted) : 'Close incident'}
          says={stopped ? `${stays('It', halted)} This incident is closed.` : 'Nothing else changes.'}
          busy={busy}
          onCancel={end}
          onKeep={(note) => send({ status: 'kept', note: note || undefined }, stopped ? `Kept ${halted ? 'halted' : 'stopped'}. Incident closed.` : 'Incident closed.', stopped ? stays(who, halted) : '')}
        />
      </Modal>
      <Modal opened={asked === 'wrong'} onClose={end} title="Mark this as wrong?">
        <Wrong
          who={stopped ? who : undefined}
          busy={busy}
          onCancel={end}
          onMark={(note, again) => send({ status: 'false_positive', note: note || undefined, resume: again || undefined }, 'Marked as wrong.', 'Thank you. Replay uses your label.')}
        />
      </Modal>
      {asked === 'raise' && agent && <RaiseLimit agent={agent} limits={limits} onClose={end} />}
      <Deactivate
        name={incident.agent}
        opened={asked === 'stop'}
        busy={busy}
        onCancel={end}
        onDeactivate={(reason, now) => void make('Not stopped. Nothing has changed.', () => deactivateAgent(incident.agent, reason, now), `${incident.agent} is stopped.`, 'Its next call gets the inactive answer.')}
      />
      <Modal opened={asked === 'switch'} onClose={end} title={`Turn the Kill Switch of ${incident.agent} on?`}>
        <Stack gap="md">
          <Text size="sm" c="dimmed">
            From its next call on, haltd stops this agent when it is certain that the agent is running away.
          </Text>
          <Told />
          <Group justify="flex-end">
            <Button variant="subtle" color="gray" onClick={end}>
              Cancel
            </Button>
            <Button
              variant="filled"
              data-autofocus
              loading={busy}
              onClick={() => void make('The switch was not turned on.', () => changeKillSwitch(incident.agent, { enabled: true }), `The Kill Switch of ${incident.agent} is on.`, 'Effective on the next call.')}
            >
              Turn it on
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}

// Told says who hears of a stop: with no alert channel, nobody does.
function Told() {
  const alerts = useQuery(alertsStatusQuery).data
  if (!alerts) return null
  return alerts.configured ? (
    <Text size="sm" c="dimmed">
      {times(alerts.channels, 'alert channel')} would be told. <Link to="/alerts">Alerts</Link>
    </Text>
  ) : (
    <Text size="sm" c="var(--amber)">
      Nobody would hear about it: no alert channel is configured. <Link to="/alerts">Configure now</Link>
    </Text>
  )
}

/** Decided is what was decided, by whom, and the ways back. */
export function Decided({ incident }: { incident: IncidentDetail }) {
  const [changing, setChanging] = useState(false)
  const { busy, change } = useChange()
  const undo = async () => {
    const made = await change('Not undone. Nothing has changed.', () => decide(incident.id, { status: 'open', expect: incident.status as Decision['expect'] }))
    if (made) done('Undone. The incident is open again.', isStop(incident) ? `${incident.scope === 'session' ? 'The session' : incident.agent} is ${incident.action === 'halt' ? 'halted' : 'stopped'}, as before.` : '')
  }
  const decided = endedByItself(incident) === undefined
  useHotkeys([['U', () => decided && void undo()]])
  if (!incident.closed_at) return null
  return (
    <>
      <div className={classes.decided}>
        <Text size="sm" style={{ minWidth: 0, overflowWrap: 'anywhere' }}>
          <b>{endedByItself(incident) ?? `${incident.closed_by || 'Somebody'} ${decisionWords(incident)}`}</b>{' '}
          {brief(incident.closed_at)}, after {coarse(new Date(incident.closed_at).getTime() - new Date(incident.time).getTime())}.
          {decided && incident.note && (
            <>
              {' '}
              <bdi>“{incident.note}”</bdi>
            </>
          )}
        </Text>
        <Group gap="xs" wrap="nowrap">
          {decided && (
            <Button loading={busy} onClick={() => void undo()} aria-keyshortcuts="u">
              Undo
            </Button>
          )}
          <Button onClick={() => setChanging(!changing)} aria-expanded={changing}>
            {decided ? 'Change decision' : 'Decide'}
          </Button>
        </Group>
      </div>
      {changing && <Actions incident={incident} />}
    </>
  )
}

function decisionWords(incident: IncidentDetail): string {
  const who = incident.scope === 'session' ? 'the session' : incident.agent
  switch (incident.status) {
    case 'resumed':
      return `resumed ${who}.`
    case 'false_positive':
      return 'marked this as wrong.'
    default:
      return isStop(incident) ? `kept ${who} ${incident.action === 'halt' ? 'halted' : 'stopped'}.` : 'closed this incident.'
  }
}

function keepWords(halted: boolean): string {
  return halted ? 'Keep halted' : 'Keep stopped'
}

// A halt also ends when a person writes, which haltd cannot keep from happening.
function stays(who: string, halted: boolean): string {
  return halted ? `${who} stays halted until a person writes, or someone resumes it.` : `${who} stays stopped until someone resumes it.`
}

// What closing leaves as it is.
function meanwhile(incident: IncidentDetail): string {
  if (incident.kind.startsWith('budget')) return 'The budget stays as it is.'
  if (incident.kind === 'session_limit') return 'The limit stays as it is.'
  if (!stops(incident)) return 'Nothing was stopped.'
  if (incident.action === 'halt') return 'Continues when a person writes.'
  return incident.action === 'kill' ? 'Stays off.' : 'The agent stays active.'
}

function Action({ name, letter, says, onAsk }: { name: string; letter: string; says: string; onAsk: () => void }) {
  return (
    <div className={classes.action}>
      <Button
        fullWidth
        size="md"
        aria-keyshortcuts={letter.toLowerCase()}
        onClick={onAsk}
      >
        {name}
        <kbd aria-hidden="true">{letter}</kbd>
      </Button>
      <Text size="xs" c="dimmed" mt="xs">
        {says}
      </Text>
    </div>
  )
}

function Keep({ confirm, says, busy, onCancel, onKeep }: { confirm: string; says: string; busy: boolean; onCancel: () => void; onKeep: (note: string) => void }) {
  const [note, setNote] = useState('')
  return (
    <Stack gap="md">
      <Text size="sm" c="dimmed">
        {says}
      </Text>
      <Textarea label="Note (optional)" maxLength={2000} value={note} onChange={(e) => setNote(e.currentTarget.value)} />
      <Group justify="flex-end">
        <Button variant="subtle" color="gray" onClick={onCancel}>
          Cancel
        </Button>
        <Button variant="filled" data-autofocus loading={busy} onClick={() => onKeep(note.trim())}>
          {confirm}
        </Button>
      </Group>
    </Stack>
  )
}

function Wrong({ who, busy, onCancel, onMark }: { who?: string; busy: boolean; onCancel: () => void; onMark: (note: string, resume: boolean) => void }) {
  const [note, setNote] = useState('')
  const [again, setAgain] = useState(who !== undefined)
  return (
    <Stack gap="md">
      <Textarea
        label="What was the agent doing? (optional)"
        minRows={2}
        autosize
        maxLength={2000}
        value={note}
        onChange={(e) => setNote(e.currentTarget.value)}
      />
      {who && <Checkbox label={`Resume ${who} as well`} checked={again} onChange={(e) => setAgain(e.currentTarget.checked)} />}
      <Group justify="flex-end">
        <Button variant="subtle" color="gray" onClick={onCancel}>
          Cancel
        </Button>
        <Button variant="filled" data-autofocus loading={busy} onClick={() => onMark(note.trim(), again)}>
          Mark as wrong
        </Button>
      </Group>
    </Stack>
  )
}
