import { Button, Group, Modal, NumberInput, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { changePolicy } from '../../api/agents'
import type { AgentDetail } from '../../api/shapes'
import { done } from '../../parts/notify'
import { changeOf, valueOf } from '../../parts/settings'
import { useChange } from '../../parts/useChange'
import type { Limit } from './limits'

/** RaiseLimit changes the limit that an incident is about, in the policy of its
 *  agent. */
export function RaiseLimit({ agent, limits, onClose }: { agent: AgentDetail; limits: Limit[]; onClose: () => void }) {
  const { busy, change } = useChange()
  const now = (l: Limit) => Number(valueOf(agent.policy, l.path))
  const [typed, setTyped] = useState<Record<string, number | string>>({})
  const shown = (l: Limit) => typed[l.path] ?? now(l)
  const raised = limits.filter((l) => Number(shown(l)) > now(l))
  const lowered = limits.some((l) => !(Number(shown(l)) >= now(l)))
  const save = async () => {
    const draft = Object.fromEntries(raised.map((l) => [l.path, Number(shown(l))]))
    const made = await change('Not raised. Nothing has changed.', () => changePolicy(agent.id, changeOf(draft)))
    onClose()
    if (made) done(`Raised for ${agent.id}.`, 'Effective on the next call. The incident stays open.')
  }
  return (
    <Modal opened onClose={onClose} title={`Raise the limit of ${agent.id}?`}>
      <Stack gap="md">
        <Text size="sm" c="dimmed">
          It applies to everything this agent does, from its next call on. To undo it, edit the agent’s policy.
        </Text>
        {limits.map((l, i) => (
          <NumberInput
            key={l.path}
            label={l.label}
            min={0}
            decimalScale={l.money ? 2 : 0}
            prefix={l.money ? '$' : undefined}
            thousandSeparator={l.money ? undefined : ','}
            value={shown(l)}
            onChange={(v) => setTyped({ ...typed, [l.path]: v })}
            error={Number(shown(l)) >= now(l) ? undefined : 'Must be above the current limit. To lower it, edit the agent’s policy.'}
            data-autofocus={i === 0 || undefined}
          />
        ))}
        <Group justify="flex-end">
          <Button variant="subtle" color="gray" onClick={onClose}>
            Cancel
          </Button>
          <Button variant="filled" loading={busy} disabled={raised.length === 0 || lowered} onClick={() => void save()}>
            Raise
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
