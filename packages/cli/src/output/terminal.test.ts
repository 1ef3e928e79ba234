import { expect, test } from 'vitest'
import { openTerminal } from './terminal.ts'

test('a terminal that knows no size, as of a container, is one of 80 columns and 24 rows', () => {
  const { stdout } = process
  const before = { columns: stdout.columns, rows: stdout.rows }
  Object.assign(stdout, { columns: 0, rows: 0 })
  try {
    const { columns, rows } = openTerminal({}, {}, new AbortController().signal)
    expect([columns(), rows()]).toEqual([80, 24])
  } finally {
    Object.assign(stdout, before)
  }
})
