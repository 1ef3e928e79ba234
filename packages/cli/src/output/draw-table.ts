import { stripVTControlCharacters } from 'node:util'

/** East Asian Width of Unicode: wide and full. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u
const without = /\p{Mn}|\p{Cf}/u

/** Signs without a width are drawn over the one before them: there may be some, and no thousands. */
const SIGNS_A_COLUMN = 8

/** How many columns of a terminal a text takes. */
export function widthOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length
  let width = 0
  for (const sign of stripVTControlCharacters(text)) width += without.test(sign) ? 0 : wide.test(sign) ? 2 : 1
  return width
}

/** The text in at most `width` columns; where it is longer, its end is a sign. It must not be painted. */
export function cut(text: string, width: number): string {
  if (text.length <= SIGNS_A_COLUMN * width && widthOf(text) <= width) return text
  let kept = ''
  let left = width - 1
  for (const sign of text) {
    left -= widthOf(sign)
    if (left < 0 || kept.length >= SIGNS_A_COLUMN * (width - 1)) break
    kept += sign
  }
  return `${kept}…`
}

/** A cell, and how it is painted once it has its width. */
export interface Cell {
  readonly text: string
  readonly paint?: ((text: string) => string) | undefined
}

/** Columns without lines between them, in at most `columns`: the widest gives way. Each line ends in a line end. */
export function drawTable(rows: readonly (readonly Cell[])[], columns: number): string {
  // Nothing is wider than the terminal, however long it is.
  const begin = (text = '') => text.slice(0, SIGNS_A_COLUMN * columns)
  const needed = (n: number) => rows.reduce((most, row) => Math.max(most, widthOf(begin(row[n]?.text))), 0)
  const widths = (rows[0] ?? []).map((_, n) => Math.min(needed(n), columns))
  const sum = () => widths.reduce((all, width) => all + width, 0) + 2 * (widths.length - 1)
  while (sum() > columns) {
    const widest = widths.indexOf(Math.max(...widths))
    if ((widths[widest] ?? 0) <= 8) break
    widths[widest] = (widths[widest] ?? 0) - 1
  }
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, n) => drawCell(cell, widths[n] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}

/** The same without a limit: nothing is cut. */
export function drawWhole(rows: readonly (readonly string[])[]): string {
  return drawTable(
    rows.map((row) => row.map((text) => ({ text }))),
    Number.POSITIVE_INFINITY,
  )
}

function drawCell({ text, paint = (same) => same }: Cell, width: number): string {
  const shown = cut(text, width)
  return `${paint(shown)}${' '.repeat(Math.max(0, width - widthOf(shown)))}`
}
