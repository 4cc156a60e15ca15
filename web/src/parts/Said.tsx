import { Fragment } from 'react'
import type { Run } from '../format/differences'
import classes from './said.module.css'

/** Said is a text that an agent or a model wrote, as it is; what differs from
 *  its counterpart is marked. Each run stands by itself: marks of direction in it
 *  cannot move the words of another. */
export function Said({ runs, label }: { runs: Run[]; label: string }) {
  return (
    <pre className={classes.said} tabIndex={0} role="group" aria-label={label}>
      {runs.map((run, i) => {
        if (!run.differs) return <span key={i}>{run.text}</span>
        const marked = run.text.trimEnd()
        return (
          <Fragment key={i}>
            <mark>{marked}</mark>
            <span>{run.text.slice(marked.length)}</span>
          </Fragment>
        )
      })}
    </pre>
  )
}
