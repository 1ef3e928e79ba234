import { expect, test } from 'vitest'
import { openScreen } from '../../../../proof/screen.ts'
import { openLiveBlock } from './live-block.ts'

/** A terminal of this size, with the text above its upper edge. */
function screenOf(columns: number, rows: number) {
  const screen = openScreen(columns, rows)
  const size = { columns, rows }
  const terminal = { columns: () => size.columns, rows: () => size.rows, sayPainted: screen.write }
  return { terminal, size, screen, shown: () => screen.shown().join('\n') }
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
