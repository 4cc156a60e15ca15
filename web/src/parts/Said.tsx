import { Fragment } from 'react'
import type { Run } from '../format/differences'
import classes from './said.module.css'

/** Said is a text that an agent or a model wrote, as it is; what differs from
 *  its counterpart is marked. */
export function Said({ runs, label }: { runs: Run[]; label: string }) {
  return (
    <pre className={classes.said} tabIndex={0} role="group" aria-label={label}>
      {runs.map((run, i) => {
        if (!run.differs) return run.text
        const marked = run.text.trimEnd()
        return (
          <Fragment key={i}>
            <mark>{marked}</mark>
            {run.text.slice(marked.length)}
          </Fragment>
        )
      })}
    </pre>
  )
}
