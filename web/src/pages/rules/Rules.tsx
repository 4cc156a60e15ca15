import { Badge, Button, Card, Group, Stack, Switch, Table, Text, Title, UnstyledButton, VisuallyHidden } from '@mantine/core'
import { modals } from '@mantine/modals'
import { IconFilter } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { changeRule, deleteRule, rulesQuery } from '../../api/rules'
import type { Rule } from '../../api/shapes'
import { Empty } from '../../parts/Empty'
import { Loaded } from '../../parts/Loaded'
import { done } from '../../parts/notify'
import { useChange } from '../../parts/useChange'
import { WideTable } from '../../parts/WideTable'
import { RuleEditor } from './RuleEditor'
import { actionColor, actionWords, conditionWords } from './words'

/** Rules are asked in the order shown; the first that matches decides. */
export default function Rules() {
  const query = useQuery(rulesQuery)
  const [editing, edit] = useState<Rule | 'new'>()
  return (
    <Stack gap="md">
      <Group justify="space-between">
        <div>
          <Title order={1}>Rules</Title>
          <Text size="sm" c="dimmed">
            Asked from top to bottom. The first that matches decides.
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
    <WideTable minWidth={760}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th w={72}>Priority</Table.Th>
          <Table.Th>Name</Table.Th>
          <Table.Th>When</Table.Th>
          <Table.Th>Then</Table.Th>
          <Table.Th>On</Table.Th>
          <Table.Th>
              <VisuallyHidden>Actions</VisuallyHidden>
            </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rules.map((r) => (
          <Row key={r.id} rule={r} onEdit={() => onEdit(r)} />
        ))}
      </Table.Tbody>
    </WideTable>
  )
}

function Row({ rule, onEdit }: { rule: Rule; onEdit: () => void }) {
  const { busy, change } = useChange()
  const remove = () =>
    modals.openConfirmModal({
      title: `Delete the rule “${rule.name}”?`,
      children: <Text size="sm" c="dimmed">It no longer applies from the next call on.</Text>,
      labels: { confirm: 'Delete', cancel: 'Cancel' },
      confirmProps: { variant: 'filled', color: 'red' },
      onConfirm: async () => {
        if (await change('Not deleted.', () => deleteRule(rule.id))) done('Rule deleted.')
      },
    })
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
        <Button variant="subtle" onClick={onEdit} aria-label={`Edit ${rule.name}`}>
          Edit
        </Button>
        <Button variant="subtle" color="red" onClick={remove} aria-label={`Delete ${rule.name}`}>
          Delete
        </Button>
      </Table.Td>
    </Table.Tr>
  )
}
