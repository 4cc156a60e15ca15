import { Button, Checkbox, Group, Modal, Stack, Text, Textarea } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import { IconPlayerPlay } from '@tabler/icons-react'
import { useState } from 'react'
import { decide, type Decision } from '../../api/incidents'
import type { IncidentDetail } from '../../api/shapes'
import { clock } from '../../format/time'
import { done } from '../../parts/notify'
import { Resume } from '../../parts/Resume'
import { useChange } from '../../parts/useChange'
import { stops } from './scene'
import classes from './incident.module.css'

type Asked = 'resume' | 'grace' | 'keep' | 'false_positive'

const firstGrace = 30

/** Actions are the decisions about an open incident. A key only asks; Enter
 *  confirms. */
export function Actions({ incident }: { incident: IncidentDetail }) {
  const [asked, ask] = useState<Asked>()
  const { busy, change } = useChange()
  const stopped = incident.action === 'kill' && !incident.shadow
  const isLoop = !incident.kind.startsWith('budget')
  const who = incident.scope === 'session' ? `session ${incident.session}` : incident.agent
  useHotkeys([
    ['R', () => stopped && ask('resume')],
    ['G', () => stopped && ask('grace')],
    ['K', () => ask('keep')],
    ['F', () => isLoop && ask('false_positive')],
  ])

  const send = async (decision: Decision, title: string, message: string) => {
    const resumes = decision.status === 'resumed' || decision.resume
    const made = await change(resumes ? 'Not resumed. Nothing has changed.' : 'Not decided. Nothing has changed.', () => decide(incident.id, decision))
    ask(undefined)
    if (made) done(title, message)
  }
  const resume = (minutes: number) =>
    void send(
      { status: 'resumed', grace_minutes: minutes || undefined },
      `${who} is active again.`,
      `Window cleared. Rounds before ${clock(Date.now())} no longer count.`,
    )
  return (
    <>
      <div className={classes.actions}>
        {stopped && (
          <>
            <Action name="Resume" letter="R" says="Clears the window. Active from the next call." main onAsk={() => ask('resume')} />
            <Action name="Resume with grace" letter="G" says={`Resume, and only warn for the next ${firstGrace} min.`} onAsk={() => ask('grace')} />
          </>
        )}
        <Action name={stopped ? 'Keep' : 'Close'} letter="K" says={`${meanwhile(incident)} Closes this incident.`} onAsk={() => ask('keep')} />
        {isLoop && (
          <Action
            name="Mark false positive"
            letter="F"
            says={stopped ? 'Keeps your label, then asks to resume.' : 'Keeps your label, and closes this incident.'}
            onAsk={() => ask('false_positive')}
          />
        )}
      </div>
      <Resume
        name={asked === 'resume' || asked === 'grace' ? who : undefined}
        grace={asked === 'grace' ? firstGrace : 0}
        busy={busy}
        onCancel={() => ask(undefined)}
        onResume={resume}
      />
      <Modal opened={asked === 'keep'} onClose={() => ask(undefined)} title={stopped ? `Keep ${who} off?` : 'Close this incident?'}>
        <Keep
          stopped={stopped}
          busy={busy}
          onCancel={() => ask(undefined)}
          onKeep={(note) => void send({ status: 'kept', note: note || undefined }, stopped ? 'Kept off. Incident closed.' : 'Incident closed.', stopped ? `${who} stays Deactivated by Kill Switch.` : '')}
        />
      </Modal>
      <Modal opened={asked === 'false_positive'} onClose={() => ask(undefined)} title="This was not a loop?">
        <FalsePositive
          who={stopped ? who : undefined}
          busy={busy}
          onCancel={() => ask(undefined)}
          onMark={(note, again) => void send({ status: 'false_positive', note: note || undefined, resume: again || undefined }, 'Marked false positive.', 'Thank you: replay uses it.')}
        />
      </Modal>
    </>
  )
}

// What closing leaves as it is.
function meanwhile(incident: IncidentDetail): string {
  if (incident.kind.startsWith('budget')) return 'The budget stays as it is.'
  if (!stops(incident)) return 'Nothing was stopped.'
  return incident.action === 'kill' ? 'Stays off.' : 'The agent stays active.'
}

function Action({ name, letter, says, main, onAsk }: { name: string; letter: string; says: string; main?: boolean; onAsk: () => void }) {
  return (
    <div className={classes.action}>
      <Button
        fullWidth
        size="md"
        variant={main ? 'filled' : 'default'}
        leftSection={main && <IconPlayerPlay size={14} aria-hidden="true" />}
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

function Keep({ stopped, busy, onCancel, onKeep }: { stopped: boolean; busy: boolean; onCancel: () => void; onKeep: (note: string) => void }) {
  const [note, setNote] = useState('')
  return (
    <Stack gap="md">
      <Text size="sm" c="dimmed">
        {stopped ? 'It stays off until somebody activates it, and this incident is closed.' : 'Nothing else changes.'}
      </Text>
      <Textarea label="Note (optional)" maxLength={2000} value={note} onChange={(e) => setNote(e.currentTarget.value)} />
      <Group justify="flex-end">
        <Button variant="subtle" color="gray" onClick={onCancel}>
          Cancel
        </Button>
        <Button variant="filled" data-autofocus loading={busy} onClick={() => onKeep(note.trim())}>
          {stopped ? 'Keep off' : 'Close incident'}
        </Button>
      </Group>
    </Stack>
  )
}

function FalsePositive({ who, busy, onCancel, onMark }: { who?: string; busy: boolean; onCancel: () => void; onMark: (note: string, resume: boolean) => void }) {
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
          Mark false positive
        </Button>
      </Group>
    </Stack>
  )
}
