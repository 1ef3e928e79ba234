import { stripVTControlCharacters } from 'node:util'

/** East Asian Width of Unicode: wide and full. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u
const without = /\p{Mn}|\p{Cf}/u

/** Maximum number of zero-width characters per column: they are drawn over the previous one. */
const SIGNS_A_COLUMN = 8

/** Width of a text in columns of a terminal. */
export function widthOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length
  let width = 0
  for (const sign of stripVTControlCharacters(text)) width += without.test(sign) ? 0 : wide.test(sign) ? 2 : 1
  return width
}

/** Cuts a text to `width` columns, with a sign at its end. It must not be painted. */
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

/** A cell, and its painter after padding. */
export interface Cell {
  readonly text: string
  readonly paint?: ((text: string) => string) | undefined
}

/** How columns of a table give way on a narrow terminal, by their places. */
export interface Narrowing {
  /** Never cut. */
  readonly whole?: readonly number[]
  /** Left out, the first of them first. */
  readonly spare?: readonly number[]
}

/**
 * Draws columns without borders in at most `columns`: spare ones are left out, then the widest shrinks. Each
 * line ends in a line feed.
 */
export function drawTable(
  rows: readonly (readonly Cell[])[],
  columns: number,
  { whole = [], spare = [] }: Narrowing = {},
): string {
  // Nothing needs to be wider than the terminal.
  const begin = (text = '') => text.slice(0, SIGNS_A_COLUMN * columns)
  const needed = (n: number) => rows.reduce((most, row) => Math.max(most, widthOf(begin(row[n]?.text))), 0)
  const widths = (rows[0] ?? []).map((_, n) => Math.min(needed(n), columns))
  const shown = new Set(widths.keys())
  const sum = () => [...shown].reduce((all, n) => all + (widths[n] ?? 0), 2 * (shown.size - 1))
  for (const n of spare) if (sum() > columns) shown.delete(n)
  const soft = [...shown].filter((n) => !whole.includes(n))
  while (sum() > columns) {
    const widest = soft.reduce((most, n) => ((widths[n] ?? 0) > (widths[most] ?? 0) ? n : most), soft[0] ?? 0)
    if ((widths[widest] ?? 0) <= 8) break
    widths[widest] = (widths[widest] ?? 0) - 1
  }
  return rows
    .map(
      (row) =>
        `${row
          .flatMap((cell, n) => (shown.has(n) ? [drawCell(cell, widths[n] ?? 0)] : []))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}

/** The same without a limit. */
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
