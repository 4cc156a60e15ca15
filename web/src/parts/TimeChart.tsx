import { useElementSize } from '@mantine/hooks'
import { useState } from 'react'
import { day, full, minute } from '../format/time'
import { levelsOf } from './levels'
import classes from './timechart.module.css'
import { ticksIn } from './timeTicks'
import { useBars } from './useBars'

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

interface Props<T> {
  label: string
  rows: T[]
  start: (row: T) => string
  series: Series<T>[]
  shape: 'bars' | 'area'
  format: (value: number) => string
  /** the least distance of two levels: 1 for what is counted */
  least?: number
  height: number
  marks?: Mark[]
  /** left out where another chart below has the same time axis */
  withTime?: boolean
}

const left = 48
const right = 16
const widest = 24 // of a bar

/** TimeChart shows series over time, one upon the other. All have the same
 *  margins and give each step the same room, so that instants stand below each
 *  other in charts that share a time axis. It is drawn here and by no library:
 *  one that draws any chart is as much as all else on the first page. */
export function TimeChart<T>({ label, rows, start, series, shape, format, least, height, marks = [], withTime = true }: Props<T>) {
  const { ref, width } = useElementSize()
  const [hovered, hover] = useState<number>()
  const starts = rows.map(start)
  const values = rows.map((row) => series.map((s) => s.value(row)))
  const says = (i: number) => `${full(starts[i]!)}: ${series.map((s, n) => `${s.name} ${format(values[i]![n]!)}`).join(', ')}`
  const bars = useBars({ label, n: rows.length, says })
  const shown = hovered ?? bars.at

  const levels = levelsOf(Math.max(...values.map((v) => v.reduce((a, b) => a + b, 0)), 0), least)
  const top = marks.some((m) => m.label) ? 24 : 8
  const base = height - (withTime ? 28 : 8)
  const step = Math.max(width - left - right, 1) / Math.max(rows.length, 1)
  const x = (i: number) => left + (i + 0.5) * step // the middle of a step
  const y = (v: number) => base - (v / levels[levels.length - 1]!) * (base - top)
  const ticks = ticksIn(starts, width - left - right)
  return (
    <figure aria-label={label} className={classes.figure} style={{ height }}>
      <div ref={ref} {...bars.props} onPointerLeave={() => hover(undefined)}>
        <svg width="100%" height={height} className={classes.chart} aria-hidden="true">
          {width > 0 && rows.length > 0 && (
            <>
              {levels.map((v) => (
                <g key={v}>
                  <line x1={left} x2={width - right} y1={y(v)} y2={y(v)} stroke="var(--border)" />
                  <text x={left - 8} y={y(v) + 4} textAnchor="end">
                    {format(v).replace(/\.00$/, '')}
                  </text>
                </g>
              ))}
              {shown !== undefined && <rect x={x(shown) - step / 2} y={top} width={step} height={base - top} fill="var(--border)" opacity={0.6} />}
              {shape === 'bars' ? <Bars values={values} series={series} x={x} y={y} wide={Math.min(step * 0.8, widest)} /> : <Areas values={values} series={series} x={x} y={y} />}
              {marks.map((m, i) => (
                <MarkLine key={i} mark={m} at={starts.findLastIndex((s) => new Date(s) <= new Date(m.at))} n={rows.length} x={x} top={top} base={base} />
              ))}
              {withTime && starts.map((s, i) => ticks.at.includes(s) && (
                <text key={s} x={x(i)} y={base + 20} textAnchor="middle">
                  {ticks.days ? day(s) : minute(s)}
                </text>
              ))}
              {rows.map((_, i) => (
                <rect key={starts[i]} x={x(i) - step / 2} y={0} width={step} height={height} fill="transparent" onPointerEnter={() => hover(i)} />
              ))}
            </>
          )}
        </svg>
      </div>
      {shown !== undefined && values[shown] && (
        <div className={classes.tip} style={x(shown) < width / 2 ? { left: x(shown) + step / 2 + 8 } : { right: width - x(shown) + step / 2 + 8 }}>
          <div>{full(starts[shown]!)}</div>
          {series.map((s, n) => (
            <div key={s.name} className={classes.value}>
              <span className={classes.key} style={{ background: s.color }} />
              <span>{s.name}</span>
              <b>{format(values[shown]![n]!)}</b>
            </div>
          ))}
        </div>
      )}
    </figure>
  )
}

interface Drawn {
  values: number[][]
  series: { name: string; color: string }[]
  x: (i: number) => number
  y: (v: number) => number
}

// What lies below the nth series of a step.
const below = (values: number[], n: number) => values.slice(0, n).reduce((a, b) => a + b, 0)

function Bars({ values, series, x, y, wide }: Drawn & { wide: number }) {
  return values.map((v, i) =>
    series.map((s, n) => {
      const from = below(v, n)
      return v[n]! > 0 && <rect key={`${i} ${s.name}`} x={x(i) - wide / 2} y={y(from + v[n]!)} width={wide} height={y(from) - y(from + v[n]!)} fill={s.color} />
    }),
  )
}

function Areas({ values, series, x, y }: Drawn) {
  return series.map((s, n) => {
    const line = values.map((v, i) => `${i === 0 ? 'M' : 'L'}${x(i).toFixed(1)} ${y(below(v, n + 1)).toFixed(1)}`).join('')
    const back = values.map((v, i) => `L${x(i).toFixed(1)} ${y(below(v, n)).toFixed(1)}`).reverse().join('')
    return (
      <g key={s.name}>
        <path d={`${line}${back}Z`} fill={s.color} opacity={0.12} />
        <path d={line} fill="none" stroke={s.color} strokeWidth={1.5} strokeLinejoin="round" />
      </g>
    )
  })
}

// The words stand above the plot, on the side where there is room.
function MarkLine({ mark, at, n, x, top, base }: { mark: Mark; at: number; n: number; x: (i: number) => number; top: number; base: number }) {
  if (at < 0) return null
  const first = at < n / 2
  return (
    <>
      <line x1={x(at)} x2={x(at)} y1={top} y2={base} stroke="var(--red-fill)" strokeDasharray="3 3" />
      {mark.label && (
        <text x={x(at)} y={top - 10} textAnchor={first ? 'start' : 'end'} className={classes.mark}>
          {mark.label}
        </text>
      )}
    </>
  )
}
