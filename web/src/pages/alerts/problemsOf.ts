import type { Delivery } from '../../api/shapes'

/** Problem is what one channel did not get, the newest first. */
export interface Problem {
  channel: string
  deliveries: Delivery[]
}

/** problemsOf puts deliveries that were given up together by their channel, the
 *  channel with the most first. */
export function problemsOf(dead: Delivery[]): Problem[] {
  const problems = new Map<string, Problem>()
  for (const d of dead) {
    const problem = problems.get(d.channel)
    if (problem) problem.deliveries.push(d)
    else problems.set(d.channel, { channel: d.channel, deliveries: [d] })
  }
  return [...problems.values()].sort((a, b) => b.deliveries.length - a.deliveries.length)
}
