import { Table, type TableProps } from '@mantine/core'

/** WideTable is a table that scrolls sideways where it does not fit. */
export function WideTable({ minWidth, ...props }: TableProps & { minWidth: number }) {
  return (
    <div style={{ overflowX: 'auto' }} tabIndex={-1}>
      <Table miw={minWidth} {...props} />
    </div>
  )
}
