import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { bypassQuery, setBypass } from '../../api/service'
import { full } from '../../format/time'
import { Loaded } from '../../parts/Loaded'
import { done } from '../../parts/notify'
import { Section } from '../../parts/Section'
import { useChange } from '../../parts/useChange'

/** BypassCard is for when haltd itself is the problem. */
export function BypassCard() {
  const query = useQuery(bypassQuery)
  const { busy, change } = useChange()
  const [asking, ask] = useState(false)
  const [why, setWhy] = useState('')
  const turn = async (on: boolean) => {
    const made = await change('Bypass was not changed.', () => setBypass(on, why.trim()))
    ask(false)
    setWhy('')
    if (made) done(on ? 'Bypass is on.' : 'Bypass is off.', on ? 'Nothing is enforced except stops by hand.' : 'haltd enforces again.')
  }
  return (
    <Section title="Bypass" aside="break glass" actions={query.data && <Turn on={query.data.on} busy={busy} onAsk={() => ask(true)} onEnd={() => void turn(false)} />}>
      <Loaded query={query} thing="the bypass" rows={1}>
        {(b) => (
          <Text size="sm" c="dimmed">
            <Text span inherit fw={600} c={b.on ? 'var(--red)' : 'var(--text)'}>
              {b.on ? 'On' : 'Off'}
              {b.by && b.at ? `, switched by ${b.by} at ${full(b.at)}` : ''}
              {b.why ? `: ${b.why}` : ''}
            </Text>
            {' · '}
            Stops all enforcement except stops by hand, for when haltd itself is the problem. Calls are still recorded, and every page says that it is on.
          </Text>
        )}
      </Loaded>
      <Modal opened={asking} onClose={() => ask(false)} title="Stop all enforcement?">
        <Stack gap="md">
          <Text size="sm" c="dimmed">
            Stopped agents may call again; budgets and hours no longer block. Only agents stopped by hand stay stopped.
          </Text>
          <TextInput label="Reason" description="For the record." maxLength={500} value={why} onChange={(e) => setWhy(e.currentTarget.value)} data-autofocus />
          <Group justify="flex-end" gap="xs">
            <Button variant="subtle" color="gray" onClick={() => ask(false)}>
              Cancel
            </Button>
            <Button variant="filled" color="red" loading={busy} onClick={() => void turn(true)}>
              Switch on bypass
            </Button>
          </Group>
        </Stack>
      </Modal>
    </Section>
  )
}

function Turn({ on, busy, onAsk, onEnd }: { on: boolean; busy: boolean; onAsk: () => void; onEnd: () => void }) {
  return on ? (
    <Button variant="filled" loading={busy} onClick={onEnd}>
      Enforce again
    </Button>
  ) : (
    <Button onClick={onAsk}>Switch on bypass…</Button>
  )
}
