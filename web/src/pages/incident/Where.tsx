import { useQuery } from '@tanstack/react-query'
import { newestEvents, triesSince } from '../../api/events'
import type { IncidentDetail } from '../../api/shapes'
import { count } from '../../format/figures'
import { brief } from '../../format/time'
import { Pair, Pairs } from '../../parts/Facts'
import { AgentLink, SessionLink } from '../../parts/links'
import { Section } from '../../parts/Section'

// useAnswer is the event of the call that was stopped: what it was answered is
// what was sent, whatever the configuration says by now.
function useAnswer(incident: IncidentDetail, stopped: boolean) {
  const minute = 60_000
  const at = new Date(incident.time).getTime()
  const [since, until] = [new Date(at - minute).toISOString(), new Date(at + minute).toISOString()]
  const near = useQuery({ ...newestEvents({ agent: incident.agent, type: ['kill_switch', 'halt'], since, until }, 50), enabled: stopped }).data
  return near?.rows.find((e) => e.incident === incident.id && e.status > 0)
}

/** Where is who was stopped, and what has happened since. */
export function Where({ incident }: { incident: IncidentDetail }) {
  const stopped = ['kill', 'halt'].includes(incident.action) && !incident.shadow
  const since = useQuery({ ...triesSince(incident), enabled: stopped }).data
  const sent = useAnswer(incident, stopped)
  const last = since?.rows[0]
  return (
    <Section title="Where">
      <Pairs>
        <Pair name="Agent">
          <AgentLink id={incident.agent} />
        </Pair>
        {incident.session && (
          <Pair name="Session">
            <SessionLink agent={incident.agent} id={incident.session} />
          </Pair>
        )}
        {incident.client && <Pair name="Client"><bdi>{incident.client}</bdi></Pair>}
        {incident.provider && <Pair name="Provider, model"><bdi>{incident.provider}</bdi>{incident.model && <>, <bdi>{incident.model}</bdi></>}</Pair>}
        {incident.trace_id && (
          <Pair name="Trace">
            {incident.trace_url ? (
              <a href={incident.trace_url} target="_blank" rel="noreferrer">
                {incident.trace_id}
              </a>
            ) : (
              incident.trace_id
            )}
          </Pair>
        )}
        {sent && <Pair name="Answer sent">HTTP {sent.status}, no retry</Pair>}
        {stopped && since && (
          <Pair name="Blocked since">{last ? `${count(since.rows.length)}${since.next ? ' or more' : ''} ${since.rows.length === 1 ? 'call' : 'calls'}, last ${brief(last.time)}` : 'none'}</Pair>
        )}
      </Pairs>
    </Section>
  )
}
