import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { newestEvents, sessionCalls } from '../../api/events'
import type { IncidentDetail } from '../../api/shapes'
import { verdictOf } from '../../api/verdict'
import { numbersOf, sceneOf, upTo } from './scene'

/** useScene is the window of an incident, once its calls are there. */
export function useScene(incident: IncidentDetail) {
  const { kill_switch: settings } = incident.settings
  // Until is exclusive, and the call in question may have been written a
  // moment after the incident.
  const until = new Date(new Date(incident.time).getTime() + 1000).toISOString()
  const session = useQuery(sessionCalls(incident.agent, incident.session, until))
  const perAgent = settings.window_scope === 'agent'
  const agent = useQuery({
    ...newestEvents({ agent: incident.agent, until, type: ['llm_call', 'kill_switch', 'halt', 'blocked'] }, Math.min(settings.window_size + 50, 1000)),
    enabled: perAgent,
  })
  const verdict = verdictOf(incident)
  const all = session.data
  const scene = useMemo(() => {
    const calls = perAgent ? agent.data?.rows.toReversed() : all?.calls
    if (!calls || !all) return undefined
    return sceneOf(incident, verdict, upTo(incident, calls), all.whole ? numbersOf(all.calls) : new Map())
  }, [incident, verdict, perAgent, agent.data, all])
  return { scene, verdict, pending: session.isPending || (perAgent && agent.isPending), error: session.error ?? agent.error }
}
