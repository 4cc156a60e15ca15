import { Button, Group, SimpleGrid, Slider, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { modals } from '@mantine/modals'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { agentQuery, changeKillSwitch } from '../../api/agents'
import { whatIfQuery } from '../../api/incidents'
import type { IncidentDetail, WhatIf as WhatIfAnswer } from '../../api/shapes'
import { money, score, times } from '../../format/figures'
import { Loaded } from '../../parts/Loaded'
import { done } from '../../parts/notify'
import { Section } from '../../parts/Section'
import { useChange } from '../../parts/useChange'
import type { Scene } from './scene'

// As many as an answer holds.
const mostOthers = 100

/** WhatIf tries another threshold on what was recorded. */
export function WhatIf({ incident, scene }: { incident: IncidentDetail; scene: Scene | undefined }) {
  const then = incident.settings.kill_switch.threshold
  const now = useQuery(agentQuery(incident.agent)).data?.policy.kill_switch.threshold ?? then
  const [threshold, setThreshold] = useState(then)
  const [tried] = useDebouncedValue(threshold, 150)
  const query = useQuery(whatIfQuery(incident.id, tried))
  const stale = query.isPlaceholderData || tried !== threshold
  const most = Math.max(20, Math.ceil(then * 2))
  return (
    <Section title={`What if the threshold were ${score(threshold)}?`} actions={<Text size="xs" c="dimmed">now {score(now)}</Text>}>
      <Text size="sm" c="dimmed">
        Drag to try it on the recorded scores of this session and of the last 30 days of {incident.agent}
        {incident.settings.kill_switch.require_corroboration ? '; a score that no second signal confirms does not fire' : ''}.
      </Text>
      <Slider
        my="lg"
        mb={36}
        min={1}
        max={most}
        step={0.5}
        value={threshold}
        onChange={setThreshold}
        label={score}
        thumbLabel="Threshold"
        marks={[{ value: 1, label: '1' }, { value: now, label: `now ${score(now)}` }, { value: most, label: String(most) }]}
      />
      <Loaded query={query} thing="the answer" rows={2} rowHeight={40}>
        {(answer) => {
          const numberOf = (id: string | undefined) => scene?.entries.find((e) => e.event.id === id)?.number
          const at = numberOf(answer.first?.event)
          const others = new Set(answer.others.map((o) => o.session)).size
          return (
            <SimpleGrid cols={2} spacing="sm" style={{ opacity: stale ? 0.5 : 1, borderTop: '1px solid var(--border)', paddingTop: 12 }} aria-busy={stale} aria-live="polite">
              <Figure name="This session">
                {when(answer, incident, at)}
              </Figure>
              <Figure name="Burned">
                {money(Math.max(incident.money.burned_usd - answer.saved_usd, 0))}
                {answer.saved_usd > 0 && <Text span inherit c="var(--green)"> ({money(answer.saved_usd)} less)</Text>}
              </Figure>
              <Figure name="Other sessions, 30 days">
                <Text span inherit c={others > 0 ? 'var(--amber)' : undefined}>
                  {others === 0 ? 'none would fire' : `${answer.others.length >= mostOthers ? `${mostOthers} or more sessions` : times(others, 'session')} would fire`}
                </Text>
              </Figure>
            </SimpleGrid>
          )
        }}
      </Loaded>
      {threshold !== now && <SetThreshold agent={incident.agent} threshold={threshold} now={now} />}
    </Section>
  )
}

function when({ first, calls_earlier: earlier }: WhatIfAnswer, incident: IncidentDetail, at: number | undefined): string {
  if (!first) return 'would not have fired up to this call'
  if (earlier > 0) return `fires ${at === undefined ? '' : `at #${at}, `}${times(earlier, 'call')} earlier`
  return new Date(first.time) > new Date(incident.time) ? 'fires at a later call' : 'fires at the same call'
}

function SetThreshold({ agent, threshold, now }: { agent: string; threshold: number; now: number }) {
  const { busy, change } = useChange()
  const ask = () =>
    modals.openConfirmModal({
      title: `Set the threshold of ${agent} to ${score(threshold)}?`,
      children: (
        <Text size="sm" c="dimmed">
          It is {score(now)} now. Effective on the next call, for all sessions of this agent.
        </Text>
      ),
      labels: { confirm: 'Set threshold', cancel: 'Cancel' },
      confirmProps: { variant: 'filled', color: 'accent' },
      onConfirm: async () => {
        if (await change('The threshold was not changed.', () => changeKillSwitch(agent, { threshold }))) {
          done(`Threshold of ${agent} is ${score(threshold)}.`, 'Effective on the next call.')
        }
      },
    })
  return (
    <Group gap="xs" mt="md">
      <Button onClick={ask} loading={busy}>
        Set threshold to {score(threshold)}
      </Button>
      <Text size="xs" c="dimmed">
        Asks first; the audit log records it.
      </Text>
    </Group>
  )
}

function Figure({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {name}
      </Text>
      <Text size="sm" fw={600}>
        {children}
      </Text>
    </div>
  )
}
