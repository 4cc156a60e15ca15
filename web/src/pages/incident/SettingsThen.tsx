import { useAllSettings } from '../../api/settings'
import type { IncidentDetail } from '../../api/shapes'
import { times } from '../../format/figures'
import { Pair, Pairs } from '../../parts/Facts'
import { Section } from '../../parts/Section'
import { amount, saysSomething, valueOf } from '../../parts/settings'

/** SettingsThen is the policy that was in force, without the limits that were
 *  none and what is rarely changed and was not, and what the detectors had to
 *  go by. */
export function SettingsThen({ incident }: { incident: IncidentDetail }) {
  const settings = useAllSettings()
  const then = (path: string) => valueOf(incident.settings, path)
  const basis = incident.verdict?.basis
  return (
    <Section title="Settings at the time">
      <Pairs>
        {settings
          .filter((s) => saysSomething(then(s.path)) && !(s.rare && then(s.path) === s.default))
          .map((s) => (
            <Pair key={s.path} name={s.label}>
              <span style={{ whiteSpace: s.type === 'hours' ? undefined : 'nowrap' }}>{amount(s, then(s.path))}</span>
            </Pair>
          ))}
        {basis && (
          <Pair name="Judged by">
            {[basis.rounds > 0 && times(basis.rounds, 'round'), basis.calls > 0 && times(basis.calls, 'call'), basis.weights && `weights of ${basis.weights}`].filter(Boolean).join(', ')}
          </Pair>
        )}
      </Pairs>
    </Section>
  )
}
