import { expect, test } from 'vitest'
import { hasWord, isWord, wordAt } from './command.ts'
import { isBlocking } from './commands.ts'

/** Arguments that are no texts. */
function unreadable(...words: readonly string[]): Buffer[] {
  return words.map((word) =>
    Object.assign(Buffer.from(word), {
      toString: () => {
        throw new Error('a text was made of an argument')
      },
    }),
  )
}

test('an argument is compared without a text being made of it, however many there are', () => {
  const [word] = unreadable('reDireCt')
  expect([isWord(word, 'REDIRECT'), isWord(word, 'REDIRECTS'), isWord(undefined, 'X')]).toEqual([
    true,
    false,
    false,
  ])
  expect(hasWord(unreadable('a', 'auth'), 'AUTH')).toBe(true)
  const xread = (...words: readonly string[]) =>
    isBlocking({ name: 'XREADGROUP', args: unreadable(...words), cutShort: false })
  expect(xread('GROUP', 'block', 'streams', 'count', '1', 'Block', '0', 'STREAMS', 'k', '>')).toBe(true)
  expect(xread('GROUP', 'block', 'streams', 'count', '1', 'STREAMS', 'block', '>')).toBe(false)
  expect(xread(...Array.from({ length: 20_000 }, () => 'other'))).toBe(false)
})

test('of an argument of megabytes only the beginning is compared', () => {
  const args = [Buffer.from('x'.repeat(1_000_000))]
  expect(wordAt({ name: 'CLIENT', args, cutShort: false }, 0)).toHaveLength(64)
})
