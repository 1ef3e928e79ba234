import { stripVTControlCharacters } from 'node:util'

const wide =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}\u{ff01}-\u{ff60}]/u
const without = /\p{Mn}|\p{Cf}/u

/** How many columns of a terminal a text takes. */
export function widthOf(text: string): number {
  let width = 0
  for (const sign of stripVTControlCharacters(text)) width += without.test(sign) ? 0 : wide.test(sign) ? 2 : 1
  return width
}

/** The text in at most `width` columns; where it is longer, its end is a sign. It must not be painted. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  let kept = ''
  for (const sign of text) {
    if (widthOf(kept + sign) > width - 1) break
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
  const widths = (rows[0] ?? []).map((_, n) => Math.max(...rows.map((row) => widthOf(row[n]?.text ?? ''))))
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
