const hour = 3_600_000
const room = 64 // for one label and the gap after it

/** ticksIn are the steps of a time axis that are labelled in so many pixels:
 *  round hours of up to two days, else days, evenly apart. */
export function ticksIn(starts: string[], width: number): { at: string[]; days: boolean } {
  const times = starts.map((s) => new Date(s))
  const days = times.length > 1 && times[times.length - 1]!.getTime() - times[0]!.getTime() > 48 * hour
  const every = days ? 24 : 3
  const round = starts.filter((_, i) => times[i]!.getHours() % every === 0 && times[i]!.getMinutes() === 0)
  // Steps of a day may begin at midnight elsewhere.
  const candidates = round.length > 1 ? round : starts
  const apart = Math.max(1, Math.ceil(candidates.length / Math.max(1, Math.floor(width / room))))
  return { at: candidates.filter((_, i) => i % apart === 0), days }
}
