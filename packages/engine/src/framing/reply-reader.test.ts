import { expect, test } from 'vitest'
import { createReplyReader } from './reply-reader.ts'

/** Returns how many bytes of the repeated `again` after `first` are read before the refusal, and why. */
function readUntilRefused(first: string, again: string): { readonly bytes: number; readonly why: string } {
  const reader = createReplyReader()
  const chunk = Buffer.from(again.repeat(Math.ceil(16_384 / again.length)))
  let bytes = 0
  try {
    reader.read(Buffer.from(first), () => undefined)
    for (; bytes < 32 << 20; bytes += chunk.length) reader.read(chunk, () => undefined)
  } catch (cause) {
    return { bytes, why: cause instanceof Error ? cause.message : String(cause) }
  }
  return { bytes, why: '' }
}

test('a reply is read for as many values as it may have, announced or not', () => {
  const most = 'a reply has more than 100000 values'
  for (const [first, again] of [
    ['', '*1\r\n'],
    ['', '*2\r\n:1\r\n'],
    ['', '%1\r\n+a\r\n'],
    ['*2\r\n', '*1\r\n'],
  ] as const) {
    const { bytes, why } = readUntilRefused(first, again)
    expect([again, why, bytes <= 101_000 * again.length + 32_768]).toEqual([again, most, true])
  }
  expect(readUntilRefused('*100001\r\n', ':1\r\n').why).toBe(most)
})

test('replies one after the other may have as many values each', () => {
  const reader = createReplyReader()
  let replies = 0
  for (let n = 0; n < 5; n += 1)
    reader.read(Buffer.from(`*60000\r\n${':1\r\n'.repeat(60_000)}`), () => {
      replies += 1
    })
  expect(replies).toBe(5)
})
