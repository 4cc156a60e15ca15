import { type KeyboardEvent, useRef, useState } from 'react'
import { dayNames, inWords, placeIn, rangesOf, type Week } from './week'
import classes from './agent.module.css'

interface Props {
  week: Week
  zone: string
  /** left out where the week is only shown */
  onPaint?: (week: Week) => void
}

const hours = Array.from({ length: 24 }, (_, h) => h)

/** WeekGrid shows when an agent may call. To change it, drag over the hours,
 *  or move with the arrows and press Space. */
export function WeekGrid({ week, zone, onPaint }: Props) {
  const now = placeIn(zone, new Date())
  const nowHour = Math.floor(now.minute / 60)
  const [focus, setFocus] = useState<[number, number]>([0, 0])
  const painting = useRef<boolean | null>(null)
  const grid = useRef<HTMLDivElement>(null)

  const paint = (day: number, hour: number, allowed: boolean) =>
    onPaint?.(week.map((row, d) => (d === day ? row.map((was, h) => (h === hour ? allowed : was)) : row)))

  const move = (e: KeyboardEvent) => {
    const steps: Record<string, [number, number]> = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }
    const [day, hour] = focus
    if (e.key === ' ' || e.key === 'Enter') {
      paint(day, hour, !week[day]![hour])
    } else if (steps[e.key]) {
      const [dd, dh] = steps[e.key]!
      const next: [number, number] = [(day + dd + 7) % 7, (hour + dh + 24) % 24]
      setFocus(next)
      grid.current?.querySelector<HTMLElement>(`[data-cell='${next[0]}-${next[1]}']`)?.focus()
    } else return
    e.preventDefault()
  }

  const said = onPaint ? { role: 'grid', 'aria-label': 'Allowed hours' } : { role: 'img', 'aria-label': `Allowed hours: ${inWords(rangesOf(week))}` }
  return (
    <div
      {...said}
      ref={grid}
      className={classes.week}
      data-editable={onPaint !== undefined}
      onKeyDown={onPaint && move}
      onPointerUp={() => (painting.current = null)}
      onPointerLeave={() => (painting.current = null)}
    >
      <span aria-hidden="true" />
      {hours.map((h) => (
        <span key={h} className="muted" aria-hidden="true">
          {h % 3 === 0 ? String(h).padStart(2, '0') : ''}
        </span>
      ))}
      {week.map((row, d) => (
        <div key={d} role={onPaint && 'row'} className={classes.weekRow}>
          <span className={classes.dayName} data-now={d === now.day} role={onPaint && 'rowheader'}>
            {dayNames[d]}
          </span>
          {row.map((allowed, h) => {
            const shared = { className: classes.hour, 'data-allowed': allowed, 'data-now': d === now.day && h === nowHour }
            if (!onPaint) return <span key={h} {...shared} />
            return (
              <span
                key={h}
                {...shared}
                role="gridcell"
                data-cell={`${d}-${h}`}
                tabIndex={focus[0] === d && focus[1] === h ? 0 : -1}
                aria-selected={allowed}
                aria-label={`${dayNames[d]} ${String(h).padStart(2, '0')}:00, ${allowed ? 'allowed' : 'not allowed'}`}
                onPointerDown={(e) => {
                  e.currentTarget.releasePointerCapture(e.pointerId)
                  painting.current = !allowed
                  setFocus([d, h])
                  paint(d, h, !allowed)
                }}
                onPointerEnter={() => painting.current !== null && paint(d, h, painting.current)}
              />
            )
          })}
        </div>
      ))}
    </div>
  )
}
