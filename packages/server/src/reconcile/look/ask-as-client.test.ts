import { createReplyReader, type ReplyLimits } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { askThrough } from './ask-as-client.ts'

const MOST = 1024 * 1024
const text = (length: number) => `$${length}\r\n${'x'.repeat(length)}\r\n`

/** How many replies are read of these bytes, on the connection of a command. */
async function read(bytes: string): Promise<number> {
  const command = { words: [Buffer.from('GET'), Buffer.from('k')], password: 'x', tls: null }
  let limits: ReplyLimits | undefined
  const ask = askThrough(async ({ replyLimits }) => {
    limits = replyLimits
    return { call: async () => 'a reply', [Symbol.dispose]: () => undefined }
  })
  const outcome = await ask([{ host: '127.0.0.1', port: 1 }], command)
  expect(outcome).toEqual({ end: 'answered', reply: 'a reply' })
  const reader = createReplyReader(limits)
  let replies = 0
  reader.read(Buffer.from(bytes), () => {
    replies += 1
  })
  return replies
}

test('of the reply to a command a megabyte is read, or 20,000 values', async () => {
  expect(await read(text(MOST - 100))).toBe(1)
  expect(await read(`*19000\r\n${':1\r\n'.repeat(19_000)}`)).toBe(1)
})

test.each([
  ['more bytes', text(MOST), 'longer than 1048576 bytes'],
  ['more bytes, which are announced and never come', `$${MOST * 10}\r\n`, 'longer than 1048576 bytes'],
  ['more values', `*20001\r\n${':1\r\n'.repeat(20_001)}`, 'more than 20000 values'],
])('a reply of %s is not read: all requests would wait while it is', async (_, reply, why) => {
  await expect(read(reply)).rejects.toThrow(why)
})
