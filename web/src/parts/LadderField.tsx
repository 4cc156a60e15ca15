import { Switch, Text } from '@mantine/core'
import type { Setting } from '../api/shapes'
import { ladderWith, rungSentence, rungsOf, upper } from './settings'
import classes from './ladder.module.css'

interface Props {
  setting: Setting
  value: unknown
  onChange: (value: unknown) => void
  disabled?: boolean
  /** what each rung would have done so far, where that is known */
  wouldHave?: Record<string, string>
}

/** LadderField is a ladder as steps, the mildest first: what each does, and
 *  whether it is taken. Warn is always the first. */
export function LadderField({ setting, value, onChange, disabled, wouldHave }: Props) {
  const rungs = setting.choices ?? []
  const on = rungsOf(value)
  return (
    <ol className={classes.ladder} aria-label={`Ladder of ${setting.label}`}>
      {rungs.map((rung) => {
        const taken = on.includes(rung)
        return (
          <li key={rung} className={classes.rung} data-taken={taken || undefined}>
            <span className={classes.number} aria-hidden="true">
              {taken ? on.indexOf(rung) + 1 : ''}
            </span>
            <div style={{ minWidth: 0, flex: 1 }}>
              <Text size="sm" fw={600}>
                {upper(rung)}
              </Text>
              <Text size="xs" c="dimmed">
                {rungSentence(rung)}
              </Text>
              {wouldHave?.[rung] && (
                <Text size="xs" c="var(--amber)">
                  {wouldHave[rung]}
                </Text>
              )}
            </div>
            <Switch
              aria-label={`${setting.label}: ${rung}`}
              checked={taken}
              disabled={disabled || rung === 'warn'}
              onChange={(e) => onChange(ladderWith(rungs, on, rung, e.currentTarget.checked))}
            />
          </li>
        )
      })}
    </ol>
  )
}
