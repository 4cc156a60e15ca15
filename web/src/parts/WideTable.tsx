import { Table, type TableProps, VisuallyHidden } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useLayoutEffect, useRef, useState } from 'react'
import classes from './widetable.module.css'

/** Column is the head of one: its name, or more about it. */
export type Column = string | Shown

interface Shown {
  name: string
  right?: boolean
  width?: number
  hidden?: boolean
  plain?: boolean
}

/** right is a column of figures. */
export const right = (name: string): Column => ({ name, right: true })

/** plain is a column whose cells need no name beside them. */
export const plain = (name: string, width?: number): Column => ({ name, plain: true, width })

/** actions is the column of buttons, named only for who cannot see them. */
export const actions: Column = { name: 'Actions', hidden: true }

interface Props extends TableProps {
  /** what is false is left out */
  columns: (Column | false | undefined)[]
  /** how much room the columns take side by side at least */
  minWidth: number
  /** names a table that holds no link or button, so that the keyboard can
   *  reach it and scroll it */
  label?: string
}

/** WideTable is a table whose rows become blocks where its columns do not fit
 *  side by side: the first cell is the title, the others follow, each after the
 *  name of its column. Its children are the rows. */
export function WideTable({ columns, minWidth, label, children, ...props }: Props) {
  const shown = columns.filter((c) => c !== false && c !== undefined).map((c): Shown => (typeof c === 'string' ? { name: c } : c))
  const names = Object.fromEntries(shown.map((c, i) => [`--column-${i + 1}`, i === 0 || c.hidden || c.plain ? 'none' : JSON.stringify(c.name)]))
  const reached = label ? { tabIndex: 0, role: 'region', 'aria-label': label } : { tabIndex: -1 }
  const { ref, width } = useElementSize()
  const table = useRef<HTMLTableElement>(null)
  // Long names may take more than the least, which shows once they are there.
  const [needs, setNeeds] = useState(minWidth)
  const narrow = width > 0 && width < needs
  useLayoutEffect(() => {
    const [takes, has] = [table.current?.offsetWidth ?? 0, table.current?.parentElement?.clientWidth ?? 0]
    if (!narrow && takes > has + 1) setNeeds(takes)
  })
  return (
    <div ref={ref} className={classes.wide} data-narrow={narrow} {...reached}>
      <Table ref={table} {...props} className={classes.table} style={names}>
        <Table.Thead>
          <Table.Tr>
            {shown.map(({ name, right, width, hidden }) => (
              <Table.Th key={name} ta={right ? 'right' : undefined} w={width}>
                {hidden ? <VisuallyHidden>{name}</VisuallyHidden> : name}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>{children}</Table.Tbody>
      </Table>
    </div>
  )
}
