import classes from './budget.module.css'

interface Props {
  spent: number
  soft: number
  hard: number
  label: string
  height?: number
}

/** BudgetBar is how much of a budget is gone; the tick is the soft limit. It
 *  is red when the hard limit is reached, amber from the soft one on. */
export function BudgetBar({ spent, soft, hard, label, height = 8 }: Props) {
  const end = hard || soft
  const share = end > 0 ? Math.min(spent / end, 1) : 0
  const over = hard > 0 && spent >= hard
  const near = (soft > 0 && spent >= soft) || (hard > 0 && share >= 0.8)
  const state = over ? 'over' : near ? 'near' : 'within'
  return (
    <div
      className={classes.track}
      style={{ height }}
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={end}
      aria-valuenow={Math.min(spent, end)}
    >
      <div className={classes.fill} data-state={state} style={{ width: `${share * 100}%` }} />
      {soft > 0 && hard > soft && <div className={classes.tick} style={{ left: `${(soft / hard) * 100}%` }} />}
    </div>
  )
}
