import { Text } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { reason } from '../api/client'
import { fetched } from './fetched'

export interface Series<T> {
  name: string
  value: (row: T) => number
  color: string
}

/** Mark is an instant that stands out, drawn in the step that holds it. */
export interface Mark {
  at: string
  label?: string
}

export interface TimeChartProps<T> {
  label: string
  rows: T[]
  start: (row: T) => string
  series: Series<T>[]
  shape: 'bars' | 'area'
  format: (value: number) => string
  height: number
  marks?: Mark[]
  /** left out where another chart below has the same time axis */
  withTime?: boolean
}

/** loadCharts fetches the library that draws, ahead of the first chart. */
export const loadCharts = () => fetched(() => import('./TimeChartDrawn')).catch((error: unknown) => ({ default: () => <NoChart error={error} /> }))

const Drawn = lazy(loadCharts)

// A chart that cannot be drawn must not take the page with it.
function NoChart({ error }: { error: unknown }) {
  return (
    <Text size="sm" c="dimmed" role="alert">
      The chart could not be loaded. {reason(error)}
    </Text>
  )
}

/** TimeChart shows series over time. The library that draws is fetched when
 *  the first chart is shown. */
export function TimeChart<T>(props: TimeChartProps<T>) {
  return (
    <figure aria-label={props.label} style={{ margin: 0, height: props.height }}>
      <Suspense fallback={null}>
        <Drawn {...(props as TimeChartProps<unknown>)} />
      </Suspense>
    </figure>
  )
}
