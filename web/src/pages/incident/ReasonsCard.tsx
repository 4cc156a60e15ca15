import { Group, Text } from '@mantine/core'
import type { CSSProperties, ReactNode } from 'react'
import type { IncidentDetail, Signal, Verdict } from '../../api/shapes'
import { scored } from '../../api/verdict'
import { certain, score, signed } from '../../format/figures'
import { Section } from '../../parts/Section'
import { certaintyOf, fills, inks, type Lines, linesOf, type Reach, reachOf, reasonsOf, waterfallOf } from './certainty'
import { signalWords } from './signalWords'
import classes from './reasons.module.css'

interface Props {
  incident: IncidentDetail
  verdict: Verdict
  stall: Signal
}

/** ReasonsCard is why stall was certain: its reasons in points, which add up
 *  to the certainty. */
export function ReasonsCard({ incident, verdict, stall }: Props) {
  const explained = reasonsOf(stall).length > 0
  return (
    <Section title="Reasons" aside={explained && 'in points, which add up to the certainty'} actions={explained && <Legend stall={stall} />}>
      {explained ? <Waterfall stall={stall} /> : <Unexplained stall={stall} />}
      <ScoreFact incident={incident} verdict={verdict} />
    </Section>
  )
}

function Waterfall({ stall }: { stall: Signal }) {
  const { steps, total, low, high } = waterfallOf(reasonsOf(stall))
  const lines = linesOf(stall)
  const reach = reachOf(stall.certainty ?? total, lines)
  const at = (points: number) => ((points - low) / (high - low)) * 100
  return (
    <>
      <Head lines={lines} at={at} />
      <ol className={classes.rows}>
        {steps.map(({ reason, from, to }) => (
          <li key={reason.name} className={classes.row}>
            <span className={classes.text}>{sentenceCase(reason.text || reason.name)}</span>
            <Track lines={lines} at={at}>
              <Bar from={at(from)} to={at(to)} color={to < from ? 'var(--green-fill)' : fills[reach]} />
            </Track>
            <span className={classes.points} style={to < from ? { color: 'var(--green)' } : undefined}>
              {signed(reason.points)}
            </span>
          </li>
        ))}
        <li className={classes.total}>
          <span className={classes.text}>Certainty</span>
          <Track lines={lines} at={at}>
            <Bar from={at(0)} to={at(total)} color={fills[reach]} solid />
          </Track>
          <span className={classes.points} style={{ color: inks[reach] }}>
            {total} %
          </span>
        </li>
      </ol>
    </>
  )
}

type Place = (points: number) => number

// The names of the lines, above the rows. Two that stand close to each other
// go to the left and the right of their lines.
function Head({ lines: { warn, kill }, at }: { lines: Lines; at: Place }) {
  const close = warn !== undefined && kill !== undefined && at(kill) - at(warn) < 24
  return (
    <div className={classes.head}>
      <span />
      <div className={classes.scale}>
        <span style={{ left: `${at(0)}%` }}>0</span>
        {warn !== undefined && (
          <span style={{ left: `${at(warn)}%`, transform: `translateX(${close ? '-100%' : '-50%'})`, color: 'var(--amber)' }}>warn {certain(warn)}</span>
        )}
        {kill !== undefined && (
          <span style={{ left: `${at(kill)}%`, transform: `translateX(${at(kill) > 84 ? '-60%' : close ? '0' : '-50%'})`, color: 'var(--red)', fontWeight: 600 }}>
            kill {certain(kill)}
          </span>
        )}
      </div>
      <span />
    </div>
  )
}

function Track({ lines, at, children }: { lines: Lines; at: Place; children: ReactNode }) {
  return (
    <div className={classes.track} aria-hidden="true">
      {children}
      {lines.warn !== undefined && <span className={classes.warn} style={{ left: `${at(lines.warn)}%` }} />}
      {lines.kill !== undefined && <span className={classes.kill} style={{ left: `${at(lines.kill)}%` }} />}
    </div>
  )
}

function Bar({ from, to, color, solid }: { from: number; to: number; color: string; solid?: boolean }) {
  return <span className={classes.bar} data-solid={solid} style={{ left: `${Math.min(from, to)}%`, width: `${Math.abs(to - from)}%`, '--bar': color } as CSSProperties} />
}

function Legend({ stall }: { stall: Signal }) {
  const { steps, total } = waterfallOf(reasonsOf(stall))
  const reach: Reach = reachOf(stall.certainty ?? total, linesOf(stall))
  return (
    <Group gap="sm" fz={12} c="dimmed">
      <span>
        <span className={classes.swatch} style={{ '--bar': fills[reach] } as CSSProperties} aria-hidden="true" /> suggests it is stuck
      </span>
      {steps.some((s) => s.to < s.from) && (
        <span>
          <span className={classes.swatch} style={{ '--bar': 'var(--green-fill)' } as CSSProperties} aria-hidden="true" /> suggests it is not
        </span>
      )}
    </Group>
  )
}

// Unexplained is what is left to say of an incident whose reasons were not
// kept.
function Unexplained({ stall }: { stall: Signal }) {
  const words = signalWords(stall)
  const certainty = certaintyOf(stall)
  return (
    <>
      {words && <Text size="sm">{sentenceCase(words)}.</Text>}
      <Text size="sm" c="dimmed">
        {certainty === undefined ? 'How certain haltd was, and why, was not recorded then.' : `Certainty ${certainty} %. Its reasons were not recorded.`}
      </Text>
    </>
  )
}

// The score of similarity is one fact among others where stall decided.
function ScoreFact({ incident, verdict }: { incident: IncidentDetail; verdict: Verdict }) {
  const similar = scored(verdict)
  const value = similar?.score ?? verdict.score
  if (value === 0) return null
  const threshold = similar?.threshold ?? incident.settings.kill_switch.threshold
  return (
    <Text size="xs" c="dimmed" mt="sm">
      Similarity score of this call: {score(value)}, {value > threshold ? 'above' : 'not above'} its threshold of {score(threshold)}.
      {similar?.unmet && ` The score alone would not have stopped it: ${similar.unmet}.`}
    </Text>
  )
}

function sentenceCase(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
