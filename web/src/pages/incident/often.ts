import { count } from '../../format/figures'

/** oftenWords says how often something has happened by now: that it was the nth
 *  time only where all are counted. */
export function oftenWords(n: number, more: boolean): string {
  if (n === 0) return ''
  if (more) return `${count(n)} times or more`
  return n === 1 ? 'First time' : `${nth(n)} time`
}

function nth(n: number): string {
  const ending = n % 100 >= 11 && n % 100 <= 13 ? 'th' : (['th', 'st', 'nd', 'rd'][n % 10] ?? 'th')
  return `${n}${ending}`
}
