import '@mantine/charts/styles.css'
import { AreaChart, BarChart } from '@mantine/charts'
import { useElementSize } from '@mantine/hooks'
import { day, full, minute } from '../format/time'
import type { Mark, TimeChartProps } from './TimeChart'
import { ticksIn } from './timeTicks'

const left = 48
const right = 16

/** Drawn is a TimeChart once the library is there. All have the same margins
 *  and give each step the same room, so that instants stand below each other
 *  in charts that share a time axis. */
export default function Drawn({ rows, start, series, shape, format, height, marks = [], withTime = true }: TimeChartProps<unknown>) {
  const { ref, width } = useElementSize()
  const starts = rows.map(start)
  const ticks = ticksIn(starts, width - left - right)
  const chartProps = { margin: { top: marks.some((m) => m.label) ? 24 : 8, right, bottom: withTime ? 0 : 8, left: 0 } }
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
      scale: 'band' as const,
      ticks: ticks.at,
      tickFormatter: (t: string) => (ticks.days ? day(t) : minute(t)),
      interval: 0,
      tickMargin: 8,
    },
    yAxisProps: {
      width: left,
      tickCount: 4,
      interval: 0,
      domain: [0, 'auto'] as [number, string],
      tickFormatter: (v: number) => format(v).replace(/\.00$/, ''),
    },
    tooltipProps: { labelFormatter: (t: unknown) => (typeof t === 'string' ? full(t) : '') },
    referenceLines: linesOf(marks, starts),
  }
  return (
    <div ref={ref}>
      {shape === 'bars' ? (
        <BarChart {...shared} type="stacked" maxBarWidth={24} barChartProps={chartProps} barProps={{ isAnimationActive: false }} />
      ) : (
        <AreaChart {...shared} curveType="monotone" withDots={false} withGradient={false} fillOpacity={0.12} strokeWidth={1.5}
          areaChartProps={chartProps} areaProps={{ isAnimationActive: false }} />
      )}
    </div>
  )
}

// The words stand above the plot, on the side where there is room.
function linesOf(marks: Mark[], starts: string[]) {
  return marks.flatMap(({ at, label }) => {
    const step = starts.findLastIndex((s) => new Date(s) <= new Date(at))
    if (step < 0) return []
    const position = step < starts.length / 2 ? ('insideTopLeft' as const) : ('insideTopRight' as const)
    const words = label && { value: label, position, dy: -22, fill: 'var(--red)', fontSize: 12, fontWeight: 600 }
    return [{ x: starts[step], color: 'var(--red-fill)', strokeDasharray: '3 3', label: words }]
  })
}
