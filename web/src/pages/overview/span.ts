import { daysBack } from '../../format/time'

/** spans are the times that the overview can show. haltd sums by the hour, so
 *  nothing shorter than a day makes a chart. */
export const spans = {
  '24h': { label: '24 h', step: '1h', per: 'per hour' },
  '7d': { label: '7 d', step: '6h', per: 'per 6 h' },
  '30d': { label: '30 d', step: '1d', per: 'per day' },
} as const

export type Span = keyof typeof spans

/** sinceOf is when a span begins: a day ago to the hour, or with the first of
 *  so many days, of which today is the last. */
export function sinceOf(span: string): string {
  return span.endsWith('d') ? daysBack(Number.parseInt(span)) : span
}

/** spanOf is the span that an address names, or a day. */
export function spanOf(asked: string | undefined): Span {
  return asked && asked in spans ? (asked as Span) : '24h'
}
