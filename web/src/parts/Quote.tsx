import { Code, UnstyledButton } from '@mantine/core'
import { Fragment, useState } from 'react'
import type { Run } from '../format/differences'
import { visible } from '../format/visible'
import classes from './quote.module.css'

const most = 320

interface Props {
  /** a text, or one whose runs that differ are marked */
  text: string | Run[]
  /** how marks look: what repeated, or what changed */
  mark?: 'changed' | 'repeated'
  plain?: boolean
}

/** Quote is a short text of an agent, a tool or a model, on one or a few lines.
 *  No character of it can move the words around it. */
export function Quote({ text, mark = 'changed', plain }: Props) {
  const [open, setOpen] = useState(false)
  const runs = typeof text === 'string' ? [{ text, differs: false }] : text
  const length = runs.reduce((n, r) => n + r.text.length, 0)
  const long = length > most * 1.25
  const shown = long && !open ? cut(runs, most) : runs
  const words = (
    <bdi>
      {shown.map((r, i) => (
        <Fragment key={i}>{r.differs ? <mark data-mark={mark}>{visible(r.text)}</mark> : visible(r.text)}</Fragment>
      ))}
      {long && !open && ' …'}
    </bdi>
  )
  return (
    <span className={classes.quote} data-plain={plain}>
      {plain ? words : <Code className={classes.code}>{words}</Code>}
      {long && (
        <UnstyledButton className={classes.more} onClick={() => setOpen(!open)} aria-expanded={open}>
          {open ? 'Show less' : 'Show all'}
        </UnstyledButton>
      )}
    </span>
  )
}

function cut(runs: Run[], left: number): Run[] {
  const kept: Run[] = []
  for (const r of runs) {
    if (left <= 0) break
    kept.push({ ...r, text: r.text.slice(0, left) })
    left -= r.text.length
  }
  return kept
}
