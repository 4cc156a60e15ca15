import { Button, Switch, Table, UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { alertRulesQuery, changeAlertRule, channelsQuery, deleteAlertRule } from '../../api/alerts'
import type { AlertRule } from '../../api/shapes'
import { span } from '../../format/time'
import { EditDelete } from '../../parts/EditDelete'
import { Empty } from '../../parts/Empty'
import { Loaded } from '../../parts/Loaded'
import { done } from '../../parts/notify'
import { Section } from '../../parts/Section'
import { useChange } from '../../parts/useChange'
import { actions, WideTable } from '../../parts/WideTable'
import { AlertRuleEditor, topics } from './AlertRuleEditor'

/** AlertRules say which notices go to which channels. */
export function AlertRules() {
  const query = useQuery(alertRulesQuery)
  const [editing, edit] = useState<AlertRule | 'new'>()
  return (
    <Section title="Rules" aside="without a rule every notice goes to every channel" actions={<Button onClick={() => edit('new')}>New alert rule</Button>}>
      <Loaded query={query} thing="alert rules">
        {(rules) =>
          rules.length === 0 ? (
            <Empty title="No alert rule">Every notice goes to every channel.</Empty>
          ) : (
            <WideTable columns={['Name', 'Notices', 'Agents', 'Channels', 'Cooldown', 'On', actions]} minWidth={720}>
              {rules.map((r) => (
                <Row key={r.id} rule={r} onEdit={() => edit(r)} />
              ))}
            </WideTable>
          )
        }
      </Loaded>
      {editing && <AlertRuleEditor rule={editing === 'new' ? undefined : editing} onClose={() => edit(undefined)} />}
    </Section>
  )
}

function Row({ rule: r, onEdit }: { rule: AlertRule; onEdit: () => void }) {
  const { busy, change } = useChange()
  const channels = useQuery(channelsQuery).data
  const named = r.channels.map((id) => channels?.find((c) => c.id === id)?.name ?? id)
  const remove = async () => {
    if (await change('Not deleted.', () => deleteAlertRule(r.id))) done('Alert rule deleted.')
  }
  return (
    <Table.Tr>
      <Table.Td>
        <UnstyledButton fz={13} fw={600} c="var(--accent)" onClick={onEdit}>
          {r.name}
        </UnstyledButton>
      </Table.Td>
      <Table.Td>{r.topics.length === 0 ? 'all' : r.topics.map((t) => topics.find((k) => k.value === t)?.label ?? t).join(', ')}</Table.Td>
      <Table.Td style={{ overflowWrap: 'anywhere' }}>{r.agents.length === 0 ? 'all' : r.agents.join(', ')}</Table.Td>
      <Table.Td style={{ overflowWrap: 'anywhere' }}>{named.length === 0 ? 'all' : named.join(', ')}</Table.Td>
      <Table.Td>{r.cooldown_seconds === 0 ? 'none' : span(r.cooldown_seconds * 1000)}</Table.Td>
      <Table.Td>
        <Switch aria-label={`Alert rule ${r.name} is on`} checked={r.enabled} disabled={busy} onChange={() => void change('Not changed.', () => changeAlertRule(r.id, { enabled: !r.enabled }))} />
      </Table.Td>
      <Table.Td ta="right" style={{ whiteSpace: 'nowrap' }}>
        <EditDelete
          name={r.name}
          question={`Delete the alert rule “${r.name}”?`}
          consequence="When none is left, every notice goes to every channel."
          onEdit={onEdit}
          onDelete={remove}
        />
      </Table.Td>
    </Table.Tr>
  )
}
