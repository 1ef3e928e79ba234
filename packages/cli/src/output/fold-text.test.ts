import { expect, test } from 'vitest'
import { folded, foldText } from './fold-text.ts'

test('a line that is wider than the terminal goes on under its title, at a word', () => {
  const text = '  unproven    whether the target can read this very data\n  group 0     add a shard\n'
  expect(foldText(text, 40)).toBe(
    '  unproven    whether the target can\n              read this very data\n  group 0     add a shard\n',
  )
})

test('commands that do not fit beside each other have a line each, and a line without a title is a little to the right', () => {
  expect(
    foldText('  look again  fairlead actions watch carts      hold  fairlead actions pause carts', 60),
  ).toBe('  look again  fairlead actions watch carts\n  hold  fairlead actions pause carts')
  expect(foldText('  handover 1 -> 11, writes stood still 2.85 ms', 30)).toBe(
    '  handover 1 -> 11, writes\n      stood still 2.85 ms',
  )
})

test('a word is not broken, however narrow the terminal is, and off a terminal nothing is folded', () => {
  expect(foldText('url redis://default@127.0.0.1:10002', 10)).toBe('url\n    redis://default@127.0.0.1:10002')
  const text = 'a line of so many words\n'
  expect(folded({ outIsTerminal: false, columns: () => 5 }, text)).toBe(text)
})
