import type { AgentDetail, Session } from '../api/shapes'
import { count, money } from '../format/figures'
import { Fact, Facts } from './Facts'
import { usedOf } from './sessionLimits'

/** SessionUse is what a session has used of its limits; nothing where it has
 *  none. Turns are counted at the gateway alone. */
export function SessionUse({ session, limits }: { session: Session; limits: AgentDetail['policy']['session'] }) {
  const used = usedOf(session, limits)
  if (used.length === 0 && !limits.turn.calls && !limits.turn.usd) return null
  return (
    <Facts>
      {used.map((u) => (
        <Fact key={u.name} name={u.name} aside={u.reached ? 'reached' : undefined}>
          {u.says}
        </Fact>
      ))}
      {limits.turn.calls > 0 && <Fact name="Calls per turn">at most {count(limits.turn.calls)}</Fact>}
      {limits.turn.usd > 0 && <Fact name="Cost per turn">at most {money(limits.turn.usd)}</Fact>}
    </Facts>
  )
}
