import { Badge, Code, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { incidentExcerptQuery } from '../../api/incidents'
import { statusQuery } from '../../api/service'
import type { IncidentDetail, IncidentExcerpt, Signal, Verdict } from '../../api/shapes'
import { differences } from '../../format/differences'
import { certain, times } from '../../format/figures'
import { SessionLink } from '../../parts/links'
import { Quote } from '../../parts/Quote'
import { Section } from '../../parts/Section'
import { fills, inks, linesOf, reachOf, whole } from './certainty'
import { callOf, kindsOf, layoutOf, type Proof, proofsOf, roundsIn, sameAnswer } from './evidence'
import { LastCalls } from './LastCalls'
import { MatchingCalls } from './MatchingCalls'
import type { Scene } from './scene'
import classes from './evidence.module.css'

interface Props {
  incident: IncidentDetail
  verdict: Verdict
  scene: Scene | undefined
}

/** EvidenceCard is what the agent did and what came back, in the words of the
 *  request where they are kept, else by digests. */
export function EvidenceCard({ incident, verdict, scene }: Props) {
  const query = useQuery(incidentExcerptQuery(incident.id))
  const signal = verdict.signals?.find((s) => s.detector === incident.detector) ?? verdict.signals?.[0]
  if (!signal) return null
  const excerpt = query.data
  const proofs = proofsOf(signal, excerpt)
  const layout = layoutOf(signal, proofs)
  const body = signal.detector === 'stall' && proofs.length > 0
  return (
    <Section
      title="Evidence"
      aside={body ? `${signal.family !== 'cycle' && (signal.count ?? 0) > proofs.length ? `the newest ${proofs.length} of ${times(signal.count!, 'round')}` : times(proofs.length, 'round')} of the conversation` : undefined}
      actions={incident.session && <SessionLink agent={incident.agent} id={incident.session} label="Open in session" />}
    >
      <div aria-busy={query.isPending}>
        {!body ? (
          <>
            <MatchingCalls signal={signal} excerpt={excerpt} scene={scene} />
            {signal.detector === 'exact' && <LastCalls incident={incident} scene={scene} />}
          </>
        ) : layout === 'kinds' ? (
          <Kinds signal={signal} proofs={proofs} />
        ) : layout === 'calls' ? (
          <Calls signal={signal} proofs={proofs} />
        ) : (
          <Words signal={signal} proofs={proofs} />
        )}
      </div>
      {!query.isPending && <Footnote incident={incident} excerpt={excerpt} proofs={proofs} error={query.error} />}
    </Section>
  )
}

// Kinds are equal rounds, each once, with how often and in which rounds; those
// of a cycle in the order in which they follow each other.
function Kinds({ signal, proofs }: { signal: Signal; proofs: Proof[] }) {
  const kinds = kindsOf(proofs)
  const cycle = signal.family === 'cycle' && kinds.length > 1
  const shown = kinds.slice(0, 6)
  return (
    <>
      {cycle && (
        <Text size="sm" mb="sm">
          <b>{times(signal.count ?? 0, 'lap')}</b> of {times(kinds.length, 'call')}, again and again in this order:
        </Text>
      )}
      <ol className={classes.kinds} data-cycle={cycle}>
        {shown.map((kind) => {
          const newest = kind.proofs.findLast((p) => p.words) ?? kind.proofs.at(-1)!
          const call = callOf(newest)
          return (
            <li key={kind.letter} className={classes.kind}>
              <div className={classes.kindHead}>
                {kinds.length > 1 && <span className={classes.letter}>{kind.letter}</span>}
                <Code className={classes.tool}>
                  <bdi>{call.tool || 'text'}</bdi>
                </Code>
                <Badge color="amber">× {kind.proofs.length}</Badge>
                <Text span size="xs" c="dimmed">
                  in rounds {roundsIn(kind.proofs)}
                </Text>
              </div>
              <dl className={classes.pair}>
                <dt>{call.tool ? 'Sent' : 'Said'}</dt>
                <dd>{newest.words ? <Sent proof={newest} /> : <Digest of="arguments" value={newest.round.act} />}</dd>
                <dt>Came back</dt>
                <dd>
                  <Answer text={call.result} digest={newest.round.result} known={newest.words !== undefined} mark={kind.proofs.length > 1} />
                </dd>
              </dl>
              {call.more > 0 && (
                <Text size="xs" c="dimmed" mt={4}>
                  and {times(call.more, 'more call')} in the same round
                </Text>
              )}
            </li>
          )
        })}
      </ol>
      {kinds.length > shown.length && (
        <Text size="xs" c="dimmed">
          and {times(kinds.length - shown.length, 'more kind')} of round
        </Text>
      )}
    </>
  )
}

function Sent({ proof }: { proof: Proof }) {
  const call = callOf(proof)
  if (!call.tool) return proof.words?.said ? <Quote text={proof.words.said} plain /> : <Nothing />
  return call.arguments ? <Quote text={call.arguments} /> : <Text size="sm" c="dimmed">no arguments</Text>
}

function Answer({ text, digest, known, mark }: { text?: string; digest: string; known: boolean; mark: boolean }) {
  if (text) return <Quote text={mark ? [{ text, differs: true }] : text} mark="repeated" />
  return known ? <Nothing /> : <Digest of="result" value={digest} />
}

function Nothing() {
  return (
    <Text span size="sm" c="dimmed">
      nothing
    </Text>
  )
}

function Digest({ of, value }: { of: string; value: string }) {
  return (
    <Text span size="xs" c="dimmed">
      {of} with the hash <span className="mono">{value}</span>
    </Text>
  )
}

// Calls are different calls that got the same answer: what changed is marked,
// and the answer stands once.
function Calls({ signal, proofs }: { signal: Signal; proofs: Proof[] }) {
  const answer = sameAnswer(proofs)
  const first = callOf(proofs.find((p) => p.words) ?? proofs[0]!)
  return (
    <>
      {answer && (
        <div className={classes.answer}>
          <Badge color="amber">× {answer.count}</Badge>
          <div>
            <Text size="sm" fw={600}>
              came back: the same {signal.outcome || 'result'}
            </Text>
            {answer.text ? <Quote text={answer.text} /> : <Digest of="result" value={answer.digest} />}
          </div>
        </div>
      )}
      <table className={classes.table}>
        <thead>
          <tr>
            <th scope="col">Round</th>
            <th scope="col">Tool</th>
            <th scope="col">Sent</th>
            {!answer && <th scope="col">Came back</th>}
            <th scope="col">Certainty after it</th>
          </tr>
        </thead>
        <tbody>
          {proofs.map((p, i) => {
            const call = callOf(p)
            return (
              <tr key={p.round.index}>
                <th scope="row">{p.round.index + 1}</th>
                <td>
                  <Code className={classes.tool}>
                    <bdi>{call.tool}</bdi>
                  </Code>
                </td>
                <td data-name="Sent">
                  {!p.words ? (
                    <Digest of="arguments" value={p.round.act} />
                  ) : call.arguments ? (
                    <Quote text={i > 0 && first.arguments ? differences(first.arguments, call.arguments)[1] : call.arguments} />
                  ) : (
                    <Text size="sm" c="dimmed">
                      no arguments
                    </Text>
                  )}
                </td>
                {!answer && (
                  <td data-name="Came back">
                    <Answer text={call.result} digest={p.round.result} known={p.words !== undefined} mark={false} />
                  </td>
                )}
                <td>
                  <Meter value={p.round.certainty} signal={signal} />
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </>
  )
}

// Words are what was said without a call, and what the other side answered.
function Words({ signal, proofs }: { signal: Signal; proofs: Proof[] }) {
  return (
    <table className={classes.table}>
      <thead>
        <tr>
          <th scope="col">Round</th>
          <th scope="col">It said</th>
          <th scope="col">The answer</th>
          <th scope="col">Certainty after it</th>
        </tr>
      </thead>
      <tbody>
        {proofs.map((p, i) => {
          const before = proofs[i - 1]?.words?.said
          const said = p.words?.said
          return (
            <tr key={p.round.index}>
              <th scope="row">{p.round.index + 1}</th>
              <td data-name="It said">{said ? <Quote plain mark="repeated" text={before ? same(before, said) : said} /> : p.words ? <Nothing /> : <Digest of="words" value={p.round.act} />}</td>
              <td data-name="The answer">{p.words?.answer ? <Quote plain text={p.words.answer} /> : p.words ? <Nothing /> : <Digest of="answer" value={p.round.result} />}</td>
              <td>
                <Meter value={p.round.certainty} signal={signal} />
              </td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

// same marks what was said before.
function same(before: string, now: string) {
  return differences(before, now)[1].map((r) => ({ text: r.text, differs: !r.differs && r.text.trim().length > 3 }))
}

function Meter({ value, signal }: { value: number; signal: Signal }) {
  const lines = linesOf(signal)
  const reach = reachOf(value, lines)
  return (
    <span className={classes.meter}>
      <span className={classes.track} aria-hidden="true">
        <span style={{ width: `${Math.min(value, 100)}%`, background: fills[reach] }} />
        {lines.warn !== undefined && <i style={{ left: `${lines.warn}%`, background: 'var(--amber-fill)' }} />}
        {lines.kill !== undefined && <i style={{ left: `${lines.kill}%`, background: 'var(--red-fill)' }} />}
      </span>
      <span style={{ color: inks[reach], fontWeight: 600 }}>{certain(whole(value, lines))}</span>
    </span>
  )
}

// Footnote says why words are missing, and what happens to those that are not.
function Footnote({ incident, excerpt, proofs, error }: { incident: IncidentDetail; excerpt?: IncidentExcerpt | null; proofs: Proof[]; error: unknown }) {
  const status = useQuery(statusQuery).data
  if (!status) return null
  const kept = status.excerpts_kept_seconds
  const days = kept > 0 ? `${Math.round(kept / 86400)} days` : 'as long as events'
  const expired = kept > 0 && Date.now() - new Date(incident.time).getTime() > kept * 1000
  let says: ReactNode
  if (error) says = 'What was said cannot be read: the key that sealed it is missing. Hashes remain.'
  else if (excerpt) {
    const missing = proofs.filter((p) => !p.words).length
    says = `Secrets are taken out, long texts cut; kept for ${days}.${missing > 0 ? ` For ${times(missing, 'round')} only hashes are kept.` : ''}`
  } else if (expired) says = `What was said was deleted after ${days}. Hashes remain.`
  else if (status.excerpts === 'off')
    says = (
      <>
        What agents say is not stored. To see it in later incidents, set <Code fz={11}>excerpts: incidents</Code> in the configuration and reload it.
      </>
    )
  else says = 'The request at that moment did not hold the text of these rounds. Hashes remain.'
  return (
    <Text size="xs" c="dimmed" mt="sm">
      {says}
    </Text>
  )
}
