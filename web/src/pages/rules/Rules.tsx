import { Badge, Button, Card, Group, Stack, Switch, Table, Text, Title, UnstyledButton } from '@mantine/core'
import { IconFilter } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { changeRule, deleteRule, rulesQuery } from '../../api/rules'
import type { Rule } from '../../api/shapes'
import { EditDelete } from '../../parts/EditDelete'
import { Empty } from '../../parts/Empty'
import { Loaded } from '../../parts/Loaded'
import { done } from '../../parts/notify'
import { useChange } from '../../parts/useChange'
import { actions, WideTable } from '../../parts/WideTable'
import { RuleEditor } from './RuleEditor'
import { actionColor, actionWords, conditionWords } from './words'
import { useTitle } from '../../parts/useTitle'

/** Rules are asked in the order shown; the first that matches decides. */
export default function Rules() {
  const query = useQuery(rulesQuery)
  useTitle('Rules', query.data?.length)
  const [editing, edit] = useState<Rule | 'new'>()
  return (
    <Stack gap="md">
      <Group justify="space-between">
        <div>
          <Title order={1}>Rules</Title>
          <Text size="sm" c="dimmed">
            Evaluated from top to bottom. The first match decides.
          </Text>
        </div>
        <Button variant="filled" onClick={() => edit('new')}>
          New rule
        </Button>
      </Group>
      <Card>
        <Loaded query={query} thing="rules" rows={4}>
          {(rules) =>
            rules.length === 0 ? (
              <Empty icon={<IconFilter size={20} />} title="No rule" action={<Button onClick={() => edit('new')}>New rule</Button>}>
                Policy and detectors still apply.
              </Empty>
            ) : (
              <Listing rules={rules} onEdit={edit} />
            )
          }
        </Loaded>
      </Card>
      {editing && <RuleEditor rule={editing === 'new' ? undefined : editing} onClose={() => edit(undefined)} />}
    </Stack>
  )
}

function Listing({ rules, onEdit }: { rules: Rule[]; onEdit: (r: Rule) => void }) {
  return (
    <WideTable columns={[{ name: 'Priority', width: 72 }, 'Name', 'When', 'Then', 'On', actions]} minWidth={720}>
      {rules.map((r) => (
        <Row key={r.id} rule={r} onEdit={() => onEdit(r)} />
      ))}
    </WideTable>
  )
}

function Row({ rule, onEdit }: { rule: Rule; onEdit: () => void }) {
  const { busy, change } = useChange()
  const remove = async () => {
    if (await change('Not deleted.', () => deleteRule(rule.id))) done('Rule deleted.')
  }
  return (
    <Table.Tr>
      <Table.Td c="dimmed">{rule.priority}</Table.Td>
      <Table.Td maw={240} style={{ overflowWrap: 'anywhere' }}>
        <UnstyledButton fz={13} fw={600} c="var(--accent)" onClick={onEdit}>
          {rule.name}
        </UnstyledButton>
      </Table.Td>
      <Table.Td maw={360} style={{ overflowWrap: 'anywhere' }}>
        {conditionWords(rule.condition)}
      </Table.Td>
      <Table.Td>
        <Badge color={actionColor(rule.action)}>{actionWords(rule)}</Badge>
      </Table.Td>
      <Table.Td>
        <Switch
          aria-label={`Rule ${rule.name} is on`}
          checked={rule.enabled}
          disabled={busy}
          onChange={() => void change('Not changed.', () => changeRule(rule.id, { enabled: !rule.enabled }))}
        />
      </Table.Td>
      <Table.Td ta="right" style={{ whiteSpace: 'nowrap' }}>
        <EditDelete
          name={rule.name}
          question={`Delete the rule “${rule.name}”?`}
          consequence="It no longer applies from the next call on."
          onEdit={onEdit}
          onDelete={remove}
        />
      </Table.Td>
    </Table.Tr>
  )
}
