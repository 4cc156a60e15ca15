import { Badge, Group, Text } from '@mantine/core'
import type { IncidentDetail, Verdict } from '../../api/shapes'
import { scored, weights } from '../../api/verdict'
import { certain, score } from '../../format/figures'
import { Section } from '../../parts/Section'
import { type Lane, named, type Scene } from './scene'
import { signalWords } from './signalWords'
import classes from './incident.module.css'

interface Props {
  incident: IncidentDetail
  verdict: Verdict
  scene: Scene | undefined
}

/** ScoreCard is how the score came about, and what the other detectors said. */
export function ScoreCard({ incident, verdict, scene }: Props) {
  const threshold = incident.settings.kill_switch.threshold
  const p = scored(verdict)?.parts ?? verdict.parts
  const rows: { lane: Lane; name: string; n: number; weight: number; color: string }[] = [
    { lane: 'prompt', name: 'Similar prompts', n: p.similar_prompts, weight: weights.prompts, color: 'var(--s1)' },
    { lane: 'response', name: 'Similar responses', n: p.similar_responses, weight: weights.responses, color: 'var(--s2)' },
    { lane: 'tools', name: 'Repeated tool calls', n: p.repeated_tool_calls, weight: weights.tools, color: 'var(--s3)' },
  ]
  const total = rows.reduce((sum, r) => sum + r.n * r.weight, 0)
  const end = Math.max(total, threshold) * 1.15
  const at = (v: number) => `${(v / end) * 100}%`
  const apart = Math.abs(total - threshold) / end > 0.16
  const agree = rows.filter((r) => r.n > 0).length
  return (
    <Section title="Score against threshold" actions={<Text size="xs" c="dimmed">{agree} of 3 signals agree</Text>}>
      <div className={classes.bar} role="img" aria-label={`Score ${score(total)}, threshold ${score(threshold)}`}>
        {rows.map((r) => (
          <span key={r.lane} style={{ width: at(r.n * r.weight), background: r.color }} />
        ))}
        <span className={classes.tick} style={{ left: at(threshold) }} />
        <span className={classes.tickLabel} style={{ left: 0, color: 'var(--muted)' }}>0</span>
        <span className={classes.tickLabel} style={{ left: at(threshold), transform: apart && total > threshold ? 'translateX(-100%)' : 'translateX(-50%)', color: 'var(--red)', fontWeight: 600 }}>
          threshold {score(threshold)}
        </span>
        {apart && (
          <span className={classes.tickLabel} style={{ left: at(total), transform: total > threshold ? 'translateX(-50%)' : 'translateX(-100%)', fontWeight: 600 }}>
            score {score(total)}
          </span>
        )}
      </div>
      {rows.map((r) => (
        <div key={r.lane} className={classes.part}>
          <span>
            <span className={classes.swatch} style={{ background: r.color }} aria-hidden="true" />
            {r.name}
          </span>
          <span className={`${classes.calls} muted`}>{callsOf(scene, r.lane)}</span>
          <span className="muted" style={{ textAlign: 'right' }}>
            {r.n} × {score(r.weight)}
          </span>
          <b style={{ textAlign: 'right' }}>{score(r.n * r.weight)}</b>
        </div>
      ))}
      <Others verdict={verdict} />
    </Section>
  )
}

const shown = 6

function callsOf(scene: Scene | undefined, lane: Lane): string {
  const matches = scene?.matches[lane] ?? []
  const names = matches.slice(-shown).map((i) => named(scene!.entries[i]!))
  return names.join(', ') + (matches.length > shown ? ` and ${matches.length - shown} more` : '')
}

function Others({ verdict }: { verdict: Verdict }) {
  const signals = (verdict.signals ?? []).filter((s) => s.detector !== 'similarity')
  const unmet = scored(verdict)?.unmet
  return (
    <>
      {unmet && (
        <Text size="sm" c="var(--amber)" mt="xs">
          The score alone did not stop it: {unmet}.
        </Text>
      )}
      {signals.length > 0 && (
        <Text size="xs" c="dimmed" mt="md" mb={4}>
          Other detectors on this call
        </Text>
      )}
      {signals.map((s, i) => (
        <Group key={i} justify="space-between" wrap="nowrap" py={5} style={{ borderTop: '1px solid var(--border)' }} fz={13}>
          <span style={{ minWidth: 0, overflowWrap: 'anywhere' }}>
            <b>{s.detector}</b> <span className="muted">{[signalWords(s), s.certainty !== undefined && `certainty ${certain(s.certainty)}`].filter(Boolean).join(', ')}</span>
          </span>
          <Badge style={{ flex: 'none' }} color={s.level === 'kill' ? 'red' : s.level === 'warn' ? 'amber' : 'gray'}>{s.level}</Badge>
        </Group>
      ))}
    </>
  )
}
