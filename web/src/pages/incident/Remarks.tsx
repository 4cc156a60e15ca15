import { Button, Group, Stack, Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import { remark } from '../../api/incidents'
import type { IncidentDetail } from '../../api/shapes'
import { full } from '../../format/time'
import { done } from '../../parts/notify'
import { Section } from '../../parts/Section'
import { useChange } from '../../parts/useChange'

/** Remarks is who has seen an incident, and what people said about it. */
export function Remarks({ incident }: { incident: IncidentDetail }) {
  const [text, setText] = useState('')
  const { busy, change } = useChange()
  const comments = incident.comments ?? []
  const say = async () => {
    if (await change('Comment not saved.', () => remark(incident.id, { text }))) setText('')
  }
  const see = async () => {
    if (await change('Not acknowledged.', () => remark(incident.id, { acknowledge: true }))) done('Acknowledged. The incident stays open.')
  }
  return (
    <Section
      title="Comments"
      aside={incident.seen_at ? `Seen by ${incident.seen_by}, ${full(incident.seen_at)}` : undefined}
      actions={
        incident.status === 'open' && !incident.seen_at ? (
          <Button onClick={() => void see()} loading={busy} title="Seen; stays open.">
            Acknowledge
          </Button>
        ) : undefined
      }
    >
      <Stack gap="sm">
        {comments.map((c, n) => (
          <div key={n}>
            <Text size="xs" c="dimmed">
              <bdi>{c.by}</bdi> · {full(c.time)}
            </Text>
            <Text size="sm" style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
              <bdi>{c.text}</bdi>
            </Text>
          </div>
        ))}
        <Textarea aria-label="Comment" placeholder="What do others need to know?" autosize minRows={2} maxLength={2000} value={text} onChange={(e) => setText(e.currentTarget.value)} />
        <Group justify="flex-end">
          <Button onClick={() => void say()} loading={busy} disabled={text.trim() === ''}>
            Comment
          </Button>
        </Group>
      </Stack>
    </Section>
  )
}
