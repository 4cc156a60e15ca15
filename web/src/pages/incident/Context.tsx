import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { sessionQuery } from '../../api/agents'
import { triesSince } from '../../api/events'
import { type IncidentFilter, newestIncidents } from '../../api/incidents'
import type { IncidentDetail } from '../../api/shapes'
import { count, money, times } from '../../format/figures'
import { brief, span } from '../../format/time'
import { isStop } from '../../parts/IncidentBadges'
import { SessionLink } from '../../parts/links'
import { oftenWords } from './often'
import type { Scene } from './scene'
import classes from './incident.module.css'

/** Context is what a person asks next: how long and dear the session is, how
 *  often this has happened, and whether the agent has tried again. */
export function Context({ incident }: { incident: IncidentDetail }) {
  const session = useQuery({ ...sessionQuery(incident.agent, incident.session), enabled: incident.session !== '' }).data
  const week = useQuery(newestIncidents({ agent: incident.agent, kind: incident.kind as IncidentFilter['kind'], since: weekBefore(incident.time) }, 100)).data
  const tries = useQuery({ ...triesSince(incident), enabled: isStop(incident) }).data
  const often = week && oftenWords(week.rows.filter((i) => i.time <= incident.time).length, week.next !== null)
  const lasted = session ? new Date(session.last_seen).getTime() - new Date(session.first_seen).getTime() : 0
  const passed = session ? session.totals.calls - session.totals.blocked : 0
  // Its rounds were made elsewhere: that they cost nothing would be wrong.
  const unseen = passed === 0 && incident.detector === 'stall'
  return (
    <div className={classes.context}>
      {session && (
        <span>
          Session <SessionLink agent={incident.agent} id={incident.session} />:{' '}
          {unseen ? (
            'the first call that haltd saw, with all rounds below in it; what they cost is not known'
          ) : (
            <>
              <b>{times(passed, 'call')}</b> passed, {lasted >= 1000 && `${span(lasted)}, `}
              <b>{money(session.totals.cost_usd)}</b> so far
            </>
          )}
        </span>
      )}
      {often && <span>{often} in 7 days</span>}
      {tries && (
        <span>
          {tries.rows.length === 0 ? (
            'No tries since'
          ) : (
            <>
              <b>
                {count(tries.rows.length)}
                {tries.next ? ' or more' : ''} {tries.rows.length === 1 ? 'try' : 'tries'}
              </b>{' '}
              since, the last at {brief(tries.rows[0]!.time)}
            </>
          )}
        </span>
      )}
      {!session && !week && <Text span size="sm" c="dimmed">…</Text>}
    </div>
  )
}

function weekBefore(time: string): string {
  return new Date(new Date(time).getTime() - 7 * 24 * 3600 * 1000).toISOString()
}

/** burnRate is what the repeating calls cost a minute, in USD; undefined where
 *  they are too few or too quick to say. */
export function burnRate(incident: IncidentDetail, scene: Scene | undefined): number | undefined {
  const { burned_calls: calls, burned_usd: cost } = incident.money
  const before = scene?.entries.slice(0, -1).slice(-calls)
  if (!before || calls < 2 || before.length < calls) return undefined
  const minutes = (new Date(incident.time).getTime() - new Date(before[0]!.event.time).getTime()) / 60_000
  return minutes < 0.05 ? undefined : cost / minutes
}
