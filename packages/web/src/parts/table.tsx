import type { ReactNode } from 'react'

/** A column of a list. The first column names the row. */
export interface Column<Row> {
  readonly name: string
  readonly cell: (row: Row) => ReactNode
  /** Aligned to the right. */
  readonly number?: boolean
  readonly mono?: boolean
  /** May wrap to a second line; otherwise the column is as wide as its text. `long`: may be sentences. */
  readonly wraps?: boolean | 'long'
  /** Omitted in a narrower table, until rows are cards, which show everything. */
  readonly room?: 'wide' | 'medium' | 'small'
  /** Tooltip of the cell. */
  readonly title?: (row: Row) => string | undefined
}

interface TableProps<Row> {
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string | number
  /** Groups rows under titles; null: without one. */
  readonly groupOf?: (row: Row) => string | null
  /**
   * Layouts:
   * - `card`: in a card, with less space.
   * - `compact`: short names, two in a line on a phone.
   * - `matrix`: cells only show presence.
   * - `whole`: narrow enough for a phone.
   * - `log`: many short rows, on a phone in a line or two.
   * - `fixed`: in a card, with columns that no value moves.
   */
  readonly as?: 'card' | 'fixed' | 'compact' | 'matrix' | 'whole' | 'log'
}

/** Every list of the console. In a narrow window each row is a card with column names and all values. */
export function Table<Row>(props: TableProps<Row>) {
  const { label, columns, rows, groupOf = () => null, as = 'page' } = props
  const groups = Map.groupBy(rows, groupOf)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what might scroll has to be reached by the keyboard
    <section className="table-box" aria-label={label} tabIndex={0}>
      <table className="table" data-as={as}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.name} scope="col" {...lookOf(column)}>
                {column.name}
              </th>
            ))}
          </tr>
        </thead>
        {[...groups].map(([title, members]) => (
          <Group key={title ?? ''} {...props} title={title} rows={members} />
        ))}
      </table>
    </section>
  )
}

function Group<Row>(props: TableProps<Row> & { readonly title: string | null }) {
  const { title, columns, rows, keyOf } = props
  return (
    <tbody>
      {title !== null && (
        <tr className="group-row">
          <th scope="rowgroup" colSpan={columns.length}>
            {title}
          </th>
        </tr>
      )}
      {rows.map((row) => (
        <tr key={keyOf(row)}>
          {columns.map((column, place) => (
            <Cell key={column.name} column={column} row={row} isName={place === 0} />
          ))}
        </tr>
      ))}
    </tbody>
  )
}

function Cell<Row>(props: { readonly column: Column<Row>; readonly row: Row; readonly isName: boolean }) {
  const { column, row, isName } = props
  const title = column.title?.(row)
  if (isName)
    return (
      <th scope="row" {...lookOf(column)} title={title} data-label={column.name}>
        {column.cell(row)}
      </th>
    )
  return (
    <td {...lookOf(column)} title={title} data-label={column.name}>
      {column.cell(row)}
    </td>
  )
}

function lookOf<Row>({ number, mono, wraps, room }: Column<Row>) {
  const names = [number && 'number', mono && 'mono', wraps && 'wraps', wraps === 'long' && 'long'].filter(
    Boolean,
  )
  return { 'data-room': room, className: names.length === 0 ? undefined : names.join(' ') }
}
