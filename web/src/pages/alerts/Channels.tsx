import { Badge, Button, Switch, Table, Text } from '@mantine/core'
import { IconBell } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { changeChannel, channelsQuery, deleteChannel, testChannel } from '../../api/alerts'
import type { Channel } from '../../api/shapes'
import { EditDelete } from '../../parts/EditDelete'
import { Empty } from '../../parts/Empty'
import { Loaded } from '../../parts/Loaded'
import { done, failed } from '../../parts/notify'
import { Section } from '../../parts/Section'
import { useChange } from '../../parts/useChange'
import { actions, WideTable } from '../../parts/WideTable'
import { ChannelEditor } from './ChannelEditor'
import { kinds, targetOf } from './kinds'

/** Channels are the places where notices go. */
export function Channels() {
  const query = useQuery(channelsQuery)
  const [editing, edit] = useState<Channel | 'new'>()
  return (
    <Section
      title="Channels"
      actions={
        <Button variant="filled" onClick={() => edit('new')}>
          Add a channel
        </Button>
      }
    >
      <Loaded query={query} thing="channels">
        {(channels) =>
          channels.length === 0 ? (
            <Empty icon={<IconBell size={20} />} title="No alert channel">
              Add Slack, a webhook or email, then press Test.
            </Empty>
          ) : (
            <WideTable columns={['Name', 'Kind', 'Goes to', 'From', 'On', actions]} minWidth={720}>
              {channels.map((c) => (
                <Row key={c.id} channel={c} onEdit={() => edit(c)} />
              ))}
            </WideTable>
          )
        }
      </Loaded>
      {editing && <ChannelEditor channel={editing === 'new' ? undefined : editing} onClose={() => edit(undefined)} />}
    </Section>
  )
}

function Row({ channel: c, onEdit }: { channel: Channel; onEdit: () => void }) {
  const { busy, change } = useChange()
  const [testing, setTesting] = useState(false)
  const own = c.source === 'api'

  const test = async () => {
    setTesting(true)
    try {
      const { delivered, answer } = await testChannel(c.id)
      if (delivered) done(`The test message reached ${c.name}.`, answer)
      else failed(`The test message did not reach ${c.name}.`, new Error(answer))
    } catch (e) {
      failed(`${c.name} was not tested.`, e)
    }
    setTesting(false)
  }
  const remove = async () => {
    if (await change('Not deleted.', () => deleteChannel(c.id))) done('Channel deleted.')
  }
  return (
    <Table.Tr>
      <Table.Td fw={600} maw={200} className="clip">
        {c.name}
      </Table.Td>
      <Table.Td>{kinds[c.kind]?.label ?? c.kind}</Table.Td>
      <Table.Td maw={260} className="clip mono" title={targetOf(c)}>
        {targetOf(c)}
      </Table.Td>
      <Table.Td c="dimmed">{own ? 'dashboard' : c.source}</Table.Td>
      <Table.Td>
        {own ? (
          <Switch aria-label={`Channel ${c.name} is on`} checked={c.enabled} disabled={busy} onChange={() => void change('Not changed.', () => changeChannel(c.id, { enabled: !c.enabled }))} />
        ) : (
          <Badge color={c.enabled ? 'green' : 'gray'}>{c.enabled ? 'on' : 'off'}</Badge>
        )}
        {c.disabled && (
          <Text size="xs" c="var(--amber)">
            {c.disabled}
          </Text>
        )}
      </Table.Td>
      <Table.Td ta="right" style={{ whiteSpace: 'nowrap' }}>
        <Button onClick={test} loading={testing} aria-label={`Test ${c.name}`}>
          Test
        </Button>
        {own && (
          <EditDelete
            name={c.name}
            question={`Delete the channel ${c.name}?`}
            consequence="Notices no longer go there. What is still on its way is given up."
            onEdit={onEdit}
            onDelete={remove}
          />
        )}
      </Table.Td>
    </Table.Tr>
  )
}
