import { score } from '../../format/figures'
import { type Entry, named } from './scene'
import type { Place } from './WindowTimeline'
import classes from './incident.module.css'

interface Props {
  place: Place
  y: number
  /** how high an arc may reach */
  height: number
  name: string
  weight: number
  entries: Entry[]
  matches: number[]
  compared: number
  /** whether the keyboard comes to the arcs by this lane */
  stop: boolean
  distance: (e: Entry) => number | undefined
  onPair: (index: number) => void
}

/** Lanes is one lane: a dot per call, and an arc from each match to the call
 *  it was compared with. An arc opens that pair below. */
export function Lanes({ place, y, height, name, weight, entries, matches, compared, stop, distance, onPair }: Props) {
  const drawn = entries.map((e, i) => ({ e, i })).filter(({ i }) => i >= place.first)
  const longest = Math.max(...matches.map((m) => compared - m), 1)
  const total = matches.length * weight
  return (
    <g>
      <text x={place.wide ? 0 : place.left} y={place.wide ? y - 2 : y - height - 6} style={{ fill: 'var(--text)', fontWeight: 600 }}>
        {name}
      </text>
      <text x={place.wide ? 0 : place.left + 72} y={place.wide ? y + 14 : y - height - 6}>
        {place.wide ? `${entries[compared]!.number === undefined ? 'like' : 'compared with'} ${named(entries[compared]!)}` : `${matches.length} × ${score(weight)} = ${score(total)}`}
      </text>
      <line x1={place.x(place.first)} x2={place.x(compared)} y1={y} y2={y} stroke="var(--border)" />
      {matches
        .filter((m) => m >= place.first)
        .map((m) => {
          const from = place.x(m)
          const to = place.x(compared)
          const rise = 10 + ((compared - m) / longest) * (height - 14)
          const label = `${name} of ${named(entries[m]!)} is like ${named(entries[compared]!)}, distance ${distance(entries[m]!) ?? 0} of 64`
          return (
            <path
              key={m}
              className={classes.arc}
              d={`M${from} ${y}C${from} ${y - rise * 1.3} ${to} ${y - rise * 1.3} ${to} ${y}`}
              role="button"
              // One stop of the keyboard for all lanes; the arrows go from arc to arc.
              tabIndex={stop && m === matches.find((other) => other >= place.first) ? 0 : -1}
              aria-label={label}
              onClick={() => onPair(m)}
              onKeyDown={(e) => {
                if (e.key === 'Enter' || e.key === ' ') {
                  e.preventDefault()
                  onPair(m)
                } else if (e.key === 'ArrowLeft' || e.key === 'ArrowRight') {
                  e.preventDefault()
                  const arcs = [...e.currentTarget.ownerSVGElement!.querySelectorAll<SVGElement>('path[role="button"]')]
                  arcs[arcs.indexOf(e.currentTarget) + (e.key === 'ArrowLeft' ? -1 : 1)]?.focus()
                }
              }}
            >
              <title>{label}</title>
            </path>
          )
        })}
      {drawn.map(({ e, i }) => {
        if (i > compared) return <text key={e.event.id} x={place.x(i)} y={y + 4} textAnchor="middle">–</text>
        if (i === compared) {
          return (
            <g key={e.event.id}>
              <circle cx={place.x(i)} cy={y} r={5} fill="var(--surface)" stroke="var(--red-fill)" strokeWidth={1.5} />
              <circle cx={place.x(i)} cy={y} r={2} fill="var(--red-fill)" />
            </g>
          )
        }
        const is = distance(e) !== undefined
        return <circle key={e.event.id} cx={place.x(i)} cy={y} r={is ? 4 : 3} fill={is ? 'var(--accent)' : 'var(--surface)'} stroke={is ? 'var(--accent)' : 'var(--control-border)'} />
      })}
      {place.wide && (
        <>
          <text x={place.right + 104} y={y - 2} textAnchor="end" style={{ fill: 'var(--text)', fontWeight: 600 }}>
            {score(total)}
          </text>
          <text x={place.right + 104} y={y + 14} textAnchor="end">
            {matches.length} × {score(weight)}
          </text>
        </>
      )}
    </g>
  )
}
