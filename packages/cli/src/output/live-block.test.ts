import { expect, test } from 'vitest'
import { openLiveBlock } from './live-block.ts'

/** An order to a terminal, or one sign. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: orders to a terminal are what is looked for
const pieces = /\u001b\[(\d*)([A-Z]|\?\d+[a-z])|([\s\S])/g

/** A terminal of so many columns and rows, with all that is above its upper edge. */
function screenOf(columns: number, rows: number) {
  let lines: string[] = ['']
  let row = 0
  const obey = (order: string, count: number) => {
    if (order === 'A') row -= count
    if (order === 'J') lines = lines.slice(0, row + 1).with(row, '')
  }
  const print = (sign: string) => {
    if (sign === '\n') row += 1
    lines[row] = `${lines[row] ?? ''}${sign === '\n' || sign === '\r' ? '' : sign}`
  }
  const write = (text: string) => {
    for (const [, count = '0', order, sign = ''] of text.matchAll(pieces)) {
      if (order === undefined) print(sign)
      else obey(order, Number(count))
    }
  }
  const size = { columns, rows }
  const terminal = { columns: () => size.columns, rows: () => size.rows, sayPainted: write }
  return { terminal, size, shown: () => lines.join('\n') }
}

test('the block is drawn in place, what is logged stays above it once, and it never fills the terminal', async () => {
  const { terminal, size, shown } = screenOf(20, 10)
  const block = openLiveBlock(terminal)
  block.show([{ text: 'a first line that is too long for it' }, { text: 'second' }])
  await expect.poll(shown).toBe('a first line that …\nsecond\n')
  block.log('a fact')
  block.show([{ text: 'first' }, { text: 'second' }])
  await expect.poll(shown).toBe('a fact\nfirst\nsecond\n')
  block.log('another')
  block.show(Array.from({ length: 64 }, (_, n) => ({ text: `group ${n}` })))
  await expect.poll(shown).toBe(`a fact\nanother\n${[0, 1, 2, 3, 4, 5].map((n) => `group ${n}\n`).join('')}`)
  size.rows = 6
  block.show([{ text: 'one' }, { text: 'two' }, { text: 'three' }])
  await expect.poll(shown).toBe('a fact\nanother\none\ntwo\n')
  block.log('the last')
  block[Symbol.dispose]()
  expect(shown()).toBe('a fact\nanother\nthe last\n')
})
