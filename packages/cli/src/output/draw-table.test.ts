import { expect, test } from 'vitest'
import { cut, drawTable, widthOf } from './draw-table.ts'

test('a text is cut by the columns that it takes, also where its signs take two or none', () => {
  expect(cut('orders', 6)).toBe('orders')
  expect(cut('orders', 5)).toBe('orde…')
  expect(cut('キーキー', 6)).toBe('キー…')
  expect(cut('e\u0301e\u0301e\u0301', 2)).toBe('e\u0301…')
})

test('a text of millions of signs, or of signs without a width, is cut at once', () => {
  const long = 'x'.repeat(20_000_000)
  const marks = `e${'\u0301'.repeat(2_000_000)}`
  expect(cut(long, 40)).toBe(`${'x'.repeat(39)}…`)
  expect(cut(marks, 40).length).toBeLessThan(400)
  const table = drawTable([[{ text: long }, { text: marks }, { text: 'ok' }]], 80)
  expect(widthOf(table.trimEnd())).toBeLessThanOrEqual(80)
})

test('a table may have more rows than a function takes arguments', () => {
  const rows = Array.from({ length: 200_000 }, (_, n) => [{ text: String(n) }])
  expect(drawTable(rows, 80).split('\n')).toHaveLength(200_001)
})

test('on a narrow terminal spare columns are left out before others are cut, and a whole one is never cut', () => {
  const rows = [['6f1c0a52-0000', 'orders-of-the-west', 'valkey 9.1.2', 'active-change-pending']]
  const draw = (columns: number) =>
    drawTable(
      rows.map((row) => row.map((text) => ({ text }))),
      columns,
      { whole: [2], spare: [0] },
    )
  expect(draw(80)).toBe('6f1c0a52-0000  orders-of-the-west  valkey 9.1.2  active-change-pending\n')
  expect(draw(60)).toBe('orders-of-the-west  valkey 9.1.2  active-change-pending\n')
  expect(draw(40)).toBe('orders-of-t…  valkey 9.1.2  active-chan…\n')
  expect(draw(20)).toContain('valkey 9.1.2')
})
