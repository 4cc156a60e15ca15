import { SimpleGrid, Stack } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { incidentQuery } from '../../api/incidents'
import type { IncidentDetail } from '../../api/shapes'
import { byStreak, scored } from '../../api/verdict'
import { Loaded } from '../../parts/Loaded'
import { Section } from '../../parts/Section'
import { useTitle } from '../../parts/useTitle'
import { beside } from '../incidents/walk'
import { Audit } from './Audit'
import { BudgetCard, SpendEvidence } from './BudgetCard'
import { CertaintyCard } from './CertaintyCard'
import { stallThatDecided } from './certainty'
import { Deliveries } from './Deliveries'
import { EvidenceCard } from './EvidenceCard'
import { GrowthCard } from './GrowthCard'
import { measureOf } from './measure'
import { LadderCard } from './LadderCard'
import { LimitEvidence, SessionCard } from './SessionCard'
import { Pairs } from './Pairs'
import { ReasonsCard } from './ReasonsCard'
import { Remarks } from './Remarks'
import { type Lane, named, stops } from './scene'
import { ScoreCard } from './ScoreCard'
import { SettingsThen } from './SettingsThen'
import { useScene } from './useScene'
import { VerdictCard } from './VerdictCard'
import { WhatIf } from './WhatIf'
import { Where } from './Where'
import { WindowTimeline } from './WindowTimeline'
import classes from './incident.module.css'

/** IncidentPage lets whoever is on call decide in ten seconds: what happened,
 *  what it cost, and four actions come first; the evidence follows. */
export default function IncidentPage() {
  const { id } = useParams({ from: '/shell/incidents/$id' })
  const query = useQuery(incidentQuery(id))
  const navigate = useNavigate()
  useTitle(query.data?.sentence ?? `Incident ${id}`)
  const go = (to: string | undefined) => to && void navigate({ to: '/incidents/$id', params: { id: to } })
  useHotkeys([
    ['[', () => go(beside(id).before)],
    [']', () => go(beside(id).after)],
  ])
  return (
    <Loaded query={query} thing={`incident ${id}`} page rows={3} rowHeight={160}>
      {(incident) => <Page key={incident.id} incident={incident} />}
    </Loaded>
  )
}

function Page({ incident }: { incident: IncidentDetail }) {
  const { scene, verdict } = useScene(incident)
  const [pair, setPair] = useState<{ lane: Lane; index: number }>()
  const isLoop = incident.kind === 'kill_switch' || incident.kind === 'steer'
  const stall = stallThatDecided(incident, verdict)
  const exact = incident.detector === 'exact' // compares no window
  const last = scene?.entries.at(-1)
  return (
    <Stack gap="md">
      <VerdictCard incident={incident} verdict={verdict} scene={scene} />
      {isLoop && <EvidenceCard incident={incident} verdict={verdict} scene={scene} />}
      {incident.kind === 'growth' && <GrowthCard verdict={verdict} />}
      {incident.kind.startsWith('budget') && <SpendEvidence incident={incident} verdict={verdict} scene={scene} />}
      {incident.kind.startsWith('budget') && <BudgetCard incident={incident} />}
      {incident.kind === 'session_limit' && <LimitEvidence incident={incident} verdict={verdict} scene={scene} />}
      {stall && (
        <div className={classes.columns}>
          <ReasonsCard incident={incident} verdict={verdict} stall={stall} />
          <CertaintyCard stall={stall} call={last?.number === undefined ? 'the call' : named(last)} />
        </div>
      )}
      {isLoop && !stall && !exact && !byStreak(verdict) && (
        <div className={classes.columns}>
          <ScoreCard incident={incident} verdict={verdict} scene={scene} />
          {scored(verdict) && <WhatIf incident={incident} scene={scene} />}
        </div>
      )}
      <LadderCard incident={incident} verdict={verdict} />
      {incident.kind === 'session_limit' && <SessionCard incident={incident} />}
      {isLoop && !exact && scene && scene.entries.length > 1 && (
        <Section title="Window" aside={`${scene.entries.length} calls, kept per ${incident.settings.kill_switch.window_scope}`}>
          <WindowTimeline scene={scene} measure={measureOf(incident, stall)} stopped={stops(incident)} onPair={(lane, index) => setPair({ lane, index })} />
        </Section>
      )}
      {scene?.hasMatches && <Pairs scene={scene} chosen={pair} onChoose={(lane, index) => setPair({ lane, index })} />}
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 4 }} spacing="md">
        <Where incident={incident} />
        <SettingsThen incident={incident} />
        <Deliveries incident={incident} />
        <Audit incident={incident} />
      </SimpleGrid>
      <Remarks incident={incident} />
    </Stack>
  )
}
