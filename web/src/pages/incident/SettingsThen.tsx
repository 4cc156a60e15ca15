import type { IncidentDetail } from '../../api/shapes'
import { certain, money, score } from '../../format/figures'
import { Pair, Pairs } from '../../parts/Facts'
import { Section } from '../../parts/Section'

/** SettingsThen is the policy that was in force, and what the detectors had to
 *  go by. */
export function SettingsThen({ incident }: { incident: IncidentDetail }) {
  const { kill_switch: k, budgets, time_zone: zone } = incident.settings
  const basis = incident.verdict?.basis
  return (
    <Section title="Settings then">
      <Pairs>
        <Pair name="Kill Switch">{k.enabled ? 'on' : 'off'}</Pair>
        <Pair name="Threshold, window">
          {score(k.threshold)}, {k.window_size} calls
        </Pair>
        {k.warn_at > 0 && k.kill_at > 0 && (
          <Pair name="Warn, kill line">
            {certain(k.warn_at)}, {certain(k.kill_at)}
          </Pair>
        )}
        <Pair name="Similarity, stall">
          {k.similarity}, {k.stall}
        </Pair>
        <Pair name="Window, kill per">
          {k.window_scope}, {k.kill_scope}
        </Pair>
        <Pair name="Second signal">{k.require_corroboration ? 'required' : 'not required'}</Pair>
        <Pair name="Hard budgets">
          {[budgets.day.hard_usd > 0 && `${money(budgets.day.hard_usd)} a day`, budgets.month.hard_usd > 0 && `${money(budgets.month.hard_usd)} a month`]
            .filter(Boolean)
            .join(', ') || 'none in dollars'}
        </Pair>
        <Pair name="Time zone">{zone}</Pair>
        {basis && (
          <Pair name="Judged by">
            {basis.rounds} rounds, {basis.calls} calls, weights of {basis.weights}
          </Pair>
        )}
      </Pairs>
    </Section>
  )
}
