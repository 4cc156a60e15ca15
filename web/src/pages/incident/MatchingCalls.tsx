import { Badge, Code, Text } from '@mantine/core'
import type { IncidentExcerpt, Signal } from '../../api/shapes'
import { times } from '../../format/figures'
import { Quote } from '../../parts/Quote'
import { type Lane, named, type Scene } from './scene'
import classes from './evidence.module.css'

interface Props {
  signal: Signal
  excerpt: IncidentExcerpt | null | undefined
  scene: Scene | undefined
}

/** MatchingCalls is what calls that are alike sent and got, as the newest of
 *  them says it, and how many said so before. */
export function MatchingCalls({ signal, excerpt, scene }: Props) {
  const parts = signal.parts
  const last = excerpt?.rounds.at(-1)
  const streak = signal.family === 'streak'
  const prompts = streak ? (signal.count ?? 0) : (parts?.similar_prompts ?? 0) + 1
  return (
    <ol className={classes.kinds}>
      <li className={classes.kind}>
        <div className={classes.kindHead}>
          <Text span fw={600} size="sm">
            What it was asked
          </Text>
          {prompts > 1 && <Badge color="amber">× {prompts}</Badge>}
          <Calls scene={scene} lane="prompt" />
        </div>
        {excerpt?.prompt ? (
          <Quote plain text={[{ text: excerpt.prompt, differs: prompts > 1 }]} mark="repeated" />
        ) : (
          <Text size="sm" c="dimmed">
            {streak ? `the same prompt ${times(prompts, 'time')} in a row; texts are not kept` : `${times(parts?.similar_prompts ?? 0, 'earlier call')} with a similar prompt; texts are not kept`}
          </Text>
        )}
      </li>
      {streak && !last && (
        <li className={classes.kind}>
          <div className={classes.kindHead}>
            <Text span fw={600} size="sm">
              What it answered
            </Text>
            <Badge color="amber">× {prompts - 1} the same</Badge>
          </div>
          <Text size="sm" c="dimmed">
            Replies are shown as hashes below, call by call.
          </Text>
        </li>
      )}
      {(last || (parts?.similar_responses ?? 0) > 0 || (parts?.repeated_tool_calls ?? 0) > 0) && (
        <li className={classes.kind}>
          <div className={classes.kindHead}>
            <Text span fw={600} size="sm">
              What it answered
            </Text>
            {(parts?.similar_responses ?? 0) > 0 && <Badge color="amber">× {parts!.similar_responses + 1} similar</Badge>}
            {(parts?.repeated_tool_calls ?? 0) > 0 && <Badge color="amber">× {parts!.repeated_tool_calls + 1} the same tool call</Badge>}
            <Calls scene={scene} lane="tools" />
          </div>
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
              <dt>Came back</dt>
              <dd>{c.result ? <Quote text={c.result} /> : 'nothing'}</dd>
            </dl>
          ))}
          {!last && (
            <Text size="sm" c="dimmed">
              Replies are shown as hashes below, call by call.
            </Text>
          )}
        </li>
      )}
    </ol>
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
