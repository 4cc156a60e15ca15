import { Card } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './facts.module.css'

/** Facts is a strip of figures, each under its name. */
export function Facts({ children }: { children: ReactNode }) {
  return (
    <Card padding={0}>
      <dl className={classes.strip}>{children}</dl>
    </Card>
  )
}

export function Fact({ name, children, aside }: { name: string; children: ReactNode; aside?: ReactNode }) {
  return (
    <div className={classes.fact}>
      <dt>{name}</dt>
      <dd>
        {children} {aside !== undefined && <span className={classes.aside}>{aside}</span>}
      </dd>
    </div>
  )
}

/** Pairs is a list of names and values, one per line. */
export function Pairs({ children }: { children: ReactNode }) {
  return <dl className={classes.pairs}>{children}</dl>
}

export function Pair({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
