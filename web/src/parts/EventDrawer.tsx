import { Badge, Drawer, Group, Stack, Text, Title } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { eventQuery } from '../api/events'
import { useSections } from '../api/settings'
import type { Event } from '../api/shapes'
import { verdictOf } from '../api/verdict'
import { bytes, certain, count, money, score } from '../format/figures'
import { full, span } from '../format/time'
import { Copy } from './Copy'
import { eventWords, typeWords } from './eventWords'
import { Pair, Pairs } from './Facts'
import { AgentLink, IncidentLink, SessionLink } from './links'
import { Said } from './Said'

interface Props {
  event: Event | undefined
  onClose: () => void
  /** moves to the event before or after this one */
  onMove?: (by: 1 | -1) => void
  title?: string
  children?: ReactNode
}

/** EventDrawer shows one event with all that the record holds of it. */
export function EventDrawer({ event, onClose, onMove, title, children }: Props) {
  useHotkeys(event && onMove ? [['ArrowDown', () => onMove(1)], ['ArrowUp', () => onMove(-1)]] : [])
  return (
    <Drawer opened={event !== undefined} onClose={onClose} position="right" size={400} title={event && (title ?? typeWords[event.event_type])}>
      {event && (
        <Stack gap="md">
          <Marks event={event} />
          <Details event={event} />
          {children}
          <Group>
            <Copy text={JSON.stringify(event, null, 2)} label="Copy as JSON" what="this event as JSON" />
          </Group>
        </Stack>
      )}
    </Drawer>
  )
}

function Marks({ event: e }: { event: Event }) {
  const { color, what } = eventWords(e, useSections())
  return (
    <Group gap={6}>
      <Badge color={color}>{what}</Badge>
      {e.retry && <Badge color="gray">retry</Badge>}
      {e.shadow && <Badge color="amber">shadow</Badge>}
      {(e.tags ?? []).map((tag) => (
        <Badge key={tag} color="accent">
          <bdi>{tag}</bdi>
        </Badge>
      ))}
    </Group>
  )
}

function Details({ event: e }: { event: Event }) {
  const verdict = verdictOf(e)
  return (
    <>
      {verdict.sentence && <Text size="sm">{verdict.sentence}</Text>}
      <Pairs>
        <Pair name="Time">{full(e.time)}</Pair>
        <Pair name="Agent">{e.agent ? <AgentLink id={e.agent} /> : 'none'}</Pair>
        {e.label && <Pair name="Called itself">{e.label}</Pair>}
        {e.session && (
          <Pair name="Session">
            <SessionLink agent={e.agent} id={e.session} />
          </Pair>
        )}
        {e.incident && (
          <Pair name="Incident">
            <IncidentLink id={e.incident} />
          </Pair>
        )}
        {e.client && <Pair name="Client"><bdi>{e.client}</bdi></Pair>}
        {e.provider && <Pair name="Provider, model"><bdi>{e.provider}</bdi>{e.model && <>, <bdi>{e.model}</bdi></>}</Pair>}
        {e.path && <Pair name="Path"><span className="mono">{e.path}</span></Pair>}
        {e.status > 0 && <Pair name="Answer">HTTP {e.status}</Pair>}
        {e.latency_ms > 0 && (
          <Pair name="Latency">
            {span(e.latency_ms)}
            {e.first_byte_ms > 0 && `, first byte ${span(e.first_byte_ms)}`}
          </Pair>
        )}
        {e.tokens.input + e.tokens.output > 0 && (
          <Pair name="Tokens">
            {count(e.tokens.input)} in, {count(e.tokens.output)} out{e.tokens_estimated && ', estimated'}
          </Pair>
        )}
        {e.tokens.cache_read + e.tokens.cache_write > 0 && (
          <Pair name="From cache">
            {count(e.tokens.cache_read)} read, {count(e.tokens.cache_write)} written
          </Pair>
        )}
        {e.cost_usd > 0 && <Pair name="Cost">{money(e.cost_usd)}</Pair>}
        {e.finish && <Pair name="Finish reason">{e.finish}</Pair>}
        {e.score > 0 && <Pair name="Score">{score(e.score)}</Pair>}
        {verdict.certainty > 0 && <Pair name="Certainty">{certain(verdict.certainty)}</Pair>}
        {e.rule && <Pair name="Rule">{e.rule}</Pair>}
        {e.error && <Pair name="Error">{e.error}</Pair>}
      </Pairs>
      {e.cost_default && (
        <Text size="xs" c="var(--amber)">
          Priced by the default: <bdi>{e.model}</bdi> is not in the price table.
        </Text>
      )}
      {e.unread && (
        <Text size="xs" c="var(--amber)">
          haltd could not read this reply; it was passed on and counted. {e.unread}
        </Text>
      )}
      <Spoken event={e} />
      {(e.prompt_hash || e.reply_hash) && (
        <div>
          <Title order={3} mb={4}>
            Hashes
          </Title>
          <Pairs>
            {e.prompt_hash && <Pair name="Prompt"><span className="mono">{e.prompt_hash}</span>, {bytes(e.prompt_bytes)}</Pair>}
            {e.reply_hash && <Pair name="Reply"><span className="mono">{e.reply_hash}</span>, {bytes(e.reply_bytes)}</Pair>}
          </Pairs>
        </div>
      )}
    </>
  )
}

// Spoken is what was said, where it is stored, else what is known of it.
function Spoken({ event: e }: { event: Event }) {
  const hasText = Boolean(e.prompt_hash || e.reply_hash)
  const tools = e.tool_calls ?? []
  const { data } = useQuery({ ...eventQuery(e.id), enabled: hasText || tools.length > 0 })
  const parts = [
    { name: 'Prompt', text: data?.excerpt?.prompt },
    { name: 'Reply', text: data?.excerpt?.reply },
    { name: 'Tool calls', text: data?.excerpt?.tool_calls ?? tools.join('\n') },
  ]
  return (
    <>
      {parts.map(
        ({ name, text }) =>
          text && (
            <div key={name}>
              <Title order={3} mb={4}>
                {name}
              </Title>
              <Said runs={[{ text, differs: false }]} label={name} />
            </div>
          ),
      )}
      {hasText && data && (
        <Text size="xs" c="dimmed">
          {data.excerpt ? 'Long texts are shortened; keys, passwords and addresses are taken out.' : 'Prompt text is not stored.'}
        </Text>
      )}
    </>
  )
}
