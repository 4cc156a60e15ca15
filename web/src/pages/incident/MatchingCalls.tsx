import { Badge, Code, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { IncidentExcerpt, RoundExcerpt, Signal } from '../../api/shapes'
import { bytes, times } from '../../format/figures'
import { Quote } from '../../parts/Quote'
import { toolResult } from './evidence'
import { type Lane, named, type Scene } from './scene'
import classes from './evidence.module.css'

interface Props {
  signal: Signal
  excerpt: IncidentExcerpt | null | undefined
  scene: Scene | undefined
}

/** MatchingCalls is what calls that are alike sent and got, as the newest of
 *  them says it, and how many said so before. What a tool gave back stands
 *  after the call that asked for it. */
export function MatchingCalls({ signal, excerpt, scene }: Props) {
  const last = excerpt?.rounds.at(-1)
  const result = toolResult(excerpt)
  const asked = <Asked key="asked" title={result ? 'What came back' : signal.detector === 'exact' ? 'The request, the same each time' : 'What it was asked'} signal={signal} excerpt={excerpt} scene={scene} />
  const answered = <Answered key="answered" title={result ? 'What it did' : 'What it answered'} signal={signal} last={last} withResults={!result} scene={scene} />
  return <ol className={classes.kinds}>{result ? [answered, asked] : [asked, answered]}</ol>
}

function Box({ title, marks, children }: { title: string; marks: ReactNode; children: ReactNode }) {
  return (
    <li className={classes.kind}>
      <div className={classes.kindHead}>
        <Text span fw={600} size="sm">
          {title}
        </Text>
        {marks}
      </div>
      {children}
    </li>
  )
}

function Asked({ title, signal, excerpt, scene }: Props & { title: string }) {
  const counted = signal.family === 'streak' || signal.detector === 'exact'
  const earlier = signal.parts?.similar_prompts ?? 0
  const prompts = counted ? (signal.count ?? 0) : earlier + 1
  return (
    <Box
      title={title}
      marks={
        <>
          {prompts > 1 && <Badge color="amber">× {prompts}</Badge>}
          <Calls scene={scene} lane="prompt" />
        </>
      }
    >
      {excerpt?.prompt ? (
        <Quote plain text={[{ text: excerpt.prompt, differs: prompts > 1 }]} mark="repeated" />
      ) : (
        <Text size="sm" c="dimmed">
          {counted ? `the same ${times(prompts, 'time')}; texts are not kept` : `${times(earlier, 'earlier call')} with a similar prompt; texts are not kept`}
        </Text>
      )}
    </Box>
  )
}

function Answered({ title, signal, last, withResults, scene }: { title: string; signal: Signal; last?: RoundExcerpt; withResults: boolean; scene: Scene | undefined }) {
  const parts = signal.parts
  const streak = signal.family === 'streak'
  const similar = parts?.similar_responses ?? 0
  const repeated = parts?.repeated_tool_calls ?? 0
  return (
    <Box
      title={title}
      marks={
        <>
          {streak && <Badge color="amber">× {(signal.count ?? 1) - 1} the same</Badge>}
          {!streak && similar > 0 && <Badge color="amber">× {similar + 1} similar</Badge>}
          {!streak && repeated > 0 && <Badge color="amber">× {repeated + 1} the same tool call</Badge>}
          <Calls scene={scene} lane="tools" />
        </>
      }
    >
      {last?.said && <Quote plain text={last.said} />}
      {last?.calls?.map((c, i) => (
        <dl key={i} className={classes.pair}>
          <dt>Sent</dt>
          <dd>
            <Code className={classes.tool}>
              <bdi>{c.tool}</bdi>
            </Code>{' '}
            {c.arguments && <Quote text={c.arguments} />}
          </dd>
          {withResults && (
            <>
              <dt>Came back</dt>
              <dd>{c.result ? <Quote text={c.result} /> : 'nothing'}</dd>
            </>
          )}
        </dl>
      ))}
      {!last && <Recorded scene={scene} />}
    </Box>
  )
}

// Recorded is what the record holds of a reply whose words the request in
// question does not repeat: its tools, its length and its hash.
function Recorded({ scene }: { scene: Scene | undefined }) {
  const reply = scene?.entries.findLast((e) => e.event.event_type === 'llm_call')
  if (!reply) return null
  const { tool_calls: tools, reply_bytes: length, reply_hash: hash } = reply.event
  return (
    <dl className={classes.pair}>
      {tools && tools.length > 0 && (
        <>
          <dt>Tool</dt>
          <dd>
            <Code className={classes.tool}>
              <bdi>{[...new Set(tools)].join(', ')}</bdi>
            </Code>
          </dd>
        </>
      )}
      <dt>Reply</dt>
      <dd>
        {bytes(length)} <span className="muted">of {named(reply)}; its words are not kept{hash && <>, its hash is <Code fz={12}>{hash}</Code></>}</span>
      </dd>
    </dl>
  )
}

function Calls({ scene, lane }: { scene: Scene | undefined; lane: Lane }) {
  const matches = scene?.matches[lane] ?? []
  if (matches.length === 0) return null
  const shown = matches.slice(-6).map((i) => named(scene!.entries[i]!))
  if (matches.some((i) => scene!.entries[i]!.number === undefined)) {
    return (
      <Text span size="xs" c="dimmed">
        the last {scene!.entries.length} calls came in {times(new Set(scene!.entries.map((e) => e.event.session)).size, 'session')}
      </Text>
    )
  }
  return (
    <Text span size="xs" c="dimmed">
      as in {[...new Set(shown)].join(', ')}
      {matches.length > 6 && ` and ${matches.length - 6} more`}
    </Text>
  )
}
