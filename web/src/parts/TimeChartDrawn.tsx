import '@mantine/charts/styles.css'
import { AreaChart, BarChart } from '@mantine/charts'
import { day, full, minute } from '../format/time'
import type { Mark, TimeChartProps } from './TimeChart'

/** Drawn is a TimeChart once the library is there. */
export default function Drawn({ rows, start, series, shape, format, height, marks = [], withTime = true }: TimeChartProps<unknown>) {
  const starts = rows.map(start)
  const long = starts.length > 1 && spanOf(starts) > 2 * 86_400_000
  const shared = {
    h: height,
    dataKey: 'start',
    data: rows.map((row, i) => ({ start: starts[i], ...Object.fromEntries(series.map((s) => [s.name, s.value(row)])) })),
    series: series.map(({ name, color }) => ({ name, color })),
    valueFormatter: format,
    withXAxis: withTime,
    tickLine: 'none' as const,
    gridAxis: 'x' as const,
    strokeDasharray: '0',
    gridColor: 'var(--border)',
    textColor: 'var(--muted)',
    xAxisProps: {
      tickFormatter: (t: string) => (long ? day(t) : minute(t)),
      interval: 'preserveStartEnd' as const,
      minTickGap: 48,
      tickMargin: 8,
    },
    yAxisProps: { width: 52, tickCount: 4, interval: 'preserveStartEnd' as const, domain: [0, 'auto'] as [number, string] },
    tooltipProps: { labelFormatter: (t: unknown) => (typeof t === 'string' ? full(t) : '') },
    referenceLines: linesOf(marks, starts),
  }
  return shape === 'bars' ? (
    <BarChart {...shared} type="stacked" maxBarWidth={24} barProps={{ isAnimationActive: false }} />
  ) : (
    <AreaChart {...shared} curveType="monotone" withDots={false} withGradient={false} fillOpacity={0.12} strokeWidth={1.5}
      areaProps={{ isAnimationActive: false }} />
  )
}

function spanOf(starts: string[]): number {
  return new Date(starts[starts.length - 1]!).getTime() - new Date(starts[0]!).getTime()
}

function linesOf(marks: Mark[], starts: string[]) {
  return marks.flatMap(({ at, label }) => {
    const step = starts.findLast((s) => new Date(s) <= new Date(at))
    if (!step) return []
    return [{ x: step, color: 'var(--red-fill)', strokeDasharray: '3 3', label: label && { value: label, position: 'insideTopRight' as const, fill: 'var(--red)', fontSize: 12 } }]
  })
}
