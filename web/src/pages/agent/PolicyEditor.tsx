import { Alert, Autocomplete, Button, Group, Modal, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { changePolicy } from '../../api/agents'
import { reason } from '../../api/client'
import type { AgentDetail, PolicyChange, Section, Setting } from '../../api/shapes'
import { done } from '../../parts/notify'
import { SettingField } from '../../parts/SettingField'
import { amount, changeOf, type Draft, faultOf, groupOf, valueOf } from '../../parts/settings'
import { emptyWeek, rangesOf, type Week, weekOf } from './week'
import { WeekGrid } from './WeekGrid'

/** PolicyEditor changes everything of a policy but the Kill Switch. Only what
 *  was edited becomes the agent's own; the rest still comes from the defaults. */
export function PolicyEditor({ agent, sections, onClose }: { agent: AgentDetail; sections: Section[]; onClose: () => void }) {
  const { policy } = agent
  const queries = useQueryClient()
  const [draft, setDraft] = useState<Draft>({})
  const [painted, setPainted] = useState<Week>()
  const [error, setError] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const kept = weekOf(policy.allowed_hours)
  const week = painted ?? kept.week
  const never = week.every((row) => !row.some(Boolean))
  const all = sections.flatMap((s) => s.settings)
  const shown = (path: string) => (path in draft ? draft[path] : valueOf(policy, path))
  const edit = (path: string, value: unknown) => setDraft({ ...draft, [path]: value })
  const wrong = all.some((s) => faultOf(s, all, shown))

  const send = async (change: PolicyChange, said: string) => {
    setBusy(true)
    setError(undefined)
    try {
      await changePolicy(agent.id, change)
      await queries.invalidateQueries()
      done(said, 'Effective on the next call.')
      onClose()
    } catch (e) {
      setError(e)
    }
    setBusy(false)
  }
  const save = () => {
    const change: PolicyChange = changeOf(Object.fromEntries(Object.entries(draft).filter(([path, v]) => v !== valueOf(policy, path))))
    if (painted) change.allowed_hours = rangesOf(painted)
    void send(change, 'Policy saved.')
  }
  const reset = () => void send(Object.fromEntries(sections.map((s) => [s.name, null])), 'Back to the defaults.')

  const part = (section: Section) => {
    switch (section.settings[0]?.type) {
      case 'hours':
        return (
          <Part key={section.name} title={section.label} aside="Drag to paint, or use the arrow keys and Space.">
            <WeekGrid week={week} zone={String(shown('time_zone') ?? policy.time_zone)} onPaint={setPainted} />
            <Group gap="xs" mt="sm">
              <Button onClick={() => setPainted(emptyWeek(true))}>Always</Button>
              <Button onClick={() => setPainted(emptyWeek(false))}>Clear</Button>
            </Group>
            {never && (
              <Text size="xs" c="var(--amber)" mt="xs">
                No hour is left. To stop the agent, use Stop now; otherwise paint an hour or choose Always.
              </Text>
            )}
            {!kept.exact && (
              <Text size="xs" c="dimmed" mt="xs">
                The current hours do not begin and end on the hour; painting rounds them to whole hours.
              </Text>
            )}
          </Part>
        )
      default:
        return (
          <Part key={section.name} title={section.label} aside={section.help}>
            {groups(section.settings).map((settings) => (
              <SimpleGrid key={groupOf(settings[0]!)} cols={{ base: 2, sm: Math.max(2, Math.min(4, settings.length)) }} mb="sm">
                {settings.map((s) => (
                  <Field key={s.path} setting={s} value={shown(s.path)} placeholder={s.minimum === 0 ? 'no limit' : amount(s, valueOf(policy, s.path))} onChange={(v) => edit(s.path, v)} error={faultOf(s, all, shown)} />
                ))}
              </SimpleGrid>
            ))}
          </Part>
        )
    }
  }
  return (
    <Modal opened onClose={onClose} size={760} title={`Policy of ${agent.id}`}>
      <Stack gap="lg">
        {sections.map(part)}
        {error !== undefined && (
          <Alert color="red" variant="light" role="alert">
            {reason(error)}
          </Alert>
        )}
        <Group justify="space-between">
          <Button variant="subtle" color="gray" onClick={reset} disabled={busy}>
            Reset to defaults
          </Button>
          <Group gap="xs">
            <Button variant="subtle" color="gray" onClick={onClose}>
              Cancel
            </Button>
            <Button variant="filled" onClick={save} loading={busy} disabled={never || wrong}>
              Save, effective on the next call
            </Button>
          </Group>
        </Group>
      </Stack>
    </Modal>
  )
}

// groups are the settings that stand in one line, in their order.
function groups(settings: Setting[]): Setting[][] {
  const found = new Map<string, Setting[]>()
  for (const s of settings) found.set(groupOf(s), [...(found.get(groupOf(s)) ?? []), s])
  return [...found.values()]
}

// Field suggests the zones that the browser knows.
function Field(props: { setting: Setting; value: unknown; placeholder: string; onChange: (v: unknown) => void; error?: string }) {
  if (props.setting.format !== 'time-zone') return <SettingField {...props} labelled />
  return (
    <Autocomplete
      label={props.setting.label}
      value={String(props.value ?? '')}
      placeholder={props.placeholder}
      onChange={(v) => props.onChange(v || null)}
      data={['UTC', ...Intl.supportedValuesOf('timeZone')]}
      limit={8}
    />
  )
}

function Part({ title, aside, children }: { title: string; aside: string; children: ReactNode }) {
  return (
    <section>
      <Group gap="xs" align="baseline" mb="xs">
        <Title order={3}>{title}</Title>
        <Text size="xs" c="dimmed">
          {aside}
        </Text>
      </Group>
      {children}
    </section>
  )
}
