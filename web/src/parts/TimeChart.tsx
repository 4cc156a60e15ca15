import { lazy, Suspense } from 'react'

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

const Drawn = lazy(() => import('./TimeChartDrawn'))

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
