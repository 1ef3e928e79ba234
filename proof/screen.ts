/** What a terminal shows, with all that has left its upper edge. */
export interface Screen {
  /** Takes what a program has written. */
  write(text: string): void
  /** As terminals do that fold lines anew: what is wider than it takes more rows. */
  resize(columns: number, rows: number): void
  /** Each row from the first that was written. */
  shown(): readonly string[]
  /** The cursor is there. */
  readonly hasCursor: () => boolean
  /** Orders that it does not know: none may be sent to it. */
  readonly unknown: readonly string[]
}

/** An order to a terminal, or one sign. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: orders to a terminal are what is looked for
const pieces = /\u001b\[([\d;]*)([A-Z]|[a-z])|\u001b\[\?(\d+)([hl])|([\s\S])/gu

/**
 * A terminal of so many columns and rows that knows the orders of the live view. The cursor cannot leave its
 * upper edge, as on a real one.
 */
export function openScreen(columns: number, rows: number): Screen {
  let size = { columns, rows }
  let lines: string[][] = [[]]
  let at = { row: 0, column: 0 }
  let hasCursor = true
  const unknown: string[] = []
  const top = () => Math.max(0, lines.length - size.rows)
  const down = () => {
    at = { row: at.row + 1, column: 0 }
    lines[at.row] ??= []
  }
  const print = (sign: string) => {
    if (sign === '\r') at = { ...at, column: 0 }
    else if (sign === '\n') down()
    else {
      if (at.column >= size.columns) down()
      const line = lines[at.row] ?? []
      line[at.column] = sign
      at = { ...at, column: at.column + 1 }
    }
  }
  const obey = (order: string, count: number) => {
    if (order === 'A') at = { ...at, row: Math.max(top(), at.row - count) }
    else if (order === 'J')
      lines = lines.slice(0, at.row + 1).with(at.row, (lines[at.row] ?? []).slice(0, at.column))
    else if (order !== 'm') unknown.push(order)
  }
  return {
    write: (text) => {
      for (const [, count = '', order, mode, set, sign = ''] of text.matchAll(pieces)) {
        if (order !== undefined) obey(order, Number(count || 1))
        else if (mode === undefined) print(sign)
        else if (mode === '25') hasCursor = set === 'h'
        else if (mode !== '2026') unknown.push(mode)
      }
    },
    resize: (toColumns, toRows) => {
      size = { columns: toColumns, rows: toRows }
      lines = lines.flatMap((line) => {
        const folds = Math.max(1, Math.ceil(line.length / toColumns))
        return Array.from({ length: folds }, (_, n) => line.slice(n * toColumns, (n + 1) * toColumns))
      })
      at = { row: lines.length - 1, column: (lines.at(-1) ?? []).length }
    },
    shown: () => lines.map((line) => Array.from(line, (sign) => sign ?? ' ').join('')),
    hasCursor: () => hasCursor,
    unknown,
  }
}
