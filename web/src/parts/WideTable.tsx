import { Table, type TableProps, VisuallyHidden } from '@mantine/core'

/** Column is the head of one: its name, or more about it. */
export type Column = string | { name: string; right?: boolean; width?: number; hidden?: boolean }

/** right is a column of figures. */
export const right = (name: string): Column => ({ name, right: true })

/** actions is the column of buttons, named only for who cannot see them. */
export const actions: Column = { name: 'Actions', hidden: true }

interface Props extends TableProps {
  /** what is false is left out */
  columns: (Column | false | undefined)[]
  minWidth: number
  /** names a table that holds no link or button, so that the keyboard can
   *  reach it and scroll it */
  label?: string
}

/** WideTable is a table that scrolls sideways where it does not fit. Its
 *  children are the rows. */
export function WideTable({ columns, minWidth, label, children, ...props }: Props) {
  const reached = label ? { tabIndex: 0, role: 'region', 'aria-label': label } : { tabIndex: -1 }
  return (
    <div style={{ overflowX: 'auto' }} {...reached}>
      <Table miw={minWidth} {...props}>
        <Table.Thead>
          <Table.Tr>
            {columns.map((column) => {
              if (!column) return null
              const { name, right, width, hidden } = typeof column === 'string' ? { name: column } : column
              return (
                <Table.Th key={name} ta={right ? 'right' : undefined} w={width}>
                  {hidden ? <VisuallyHidden>{name}</VisuallyHidden> : name}
                </Table.Th>
              )
            })}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>{children}</Table.Tbody>
      </Table>
    </div>
  )
}
