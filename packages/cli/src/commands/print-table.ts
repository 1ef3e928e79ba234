import Table from 'cli-table3'

const nothing = { top: '', 'top-mid': '', 'top-left': '', 'top-right': '', left: '', right: '', middle: ' ' }
const below = { bottom: '', 'bottom-mid': '', 'bottom-left': '', 'bottom-right': '' }
const between = { mid: '', 'mid-mid': '', 'left-mid': '', 'right-mid': '' }

/** Columns without lines, as people and `awk` read them. */
export function printTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const table = new Table({
    head: [...head],
    chars: { ...nothing, ...below, ...between },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 1 },
  })
  table.push(...rows.map((row) => [...row]))
  return `${table.toString().replaceAll(/ +$/gm, '')}\n`
}
