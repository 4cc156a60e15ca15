/** wasSeen reports whether a time is one: haltd writes the year 1 for what has
 *  not happened. */
export function wasSeen(time: string): boolean {
  return new Date(time).getTime() > 0
}
