import { connect, createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Connection } from '../../../src/connection/connection.ts'
import { createLink, type Link } from '../../../src/connection/link.ts'
import {
  dropNote,
  forgetNoted,
  hasManyPendingReplies,
  noted,
  takeDown,
} from '../../../src/connection/noted.ts'

const MB = 1024 * 1024
const server = createServer()
let socket: Socket
beforeAll(async () => {
  await new Promise<void>((tell) => server.listen(0, '127.0.0.1', tell))
  socket = connect(Number(Object(server.address()).port), '127.0.0.1')
})
afterAll(() => {
  socket.destroy()
  server.close()
})

const client = { client: { writableNeedDrain: false } } as Pick<Connection, 'client'> // all that is read of it

function linkWith(...sizes: readonly number[]): Link {
  const link = createLink(socket, { address: '', shard: '' }, 0)
  for (const size of sizes) {
    const args = [Buffer.alloc(size)]
    const costs = size
    takeDown(link, { ...noted(link, { name: 'SUBSCRIBE', args, cutShort: false }), costs })
  }
  return link
}

test('a client has 16 MB under way, and 64 KB while all clients together have more than 128 MB', () => {
  const much = linkWith(16 * MB)
  const little = linkWith(64 * 1024)
  const isFull = () => [much, little].map((link) => hasManyPendingReplies(client, link))
  expect(isFull()).toEqual([false, false])
  expect(hasManyPendingReplies(client, linkWith(16 * MB, 1))).toBe(true)
  const others = Array.from({ length: 128 }, () => linkWith(MB))
  expect(isFull()).toEqual([true, false])
  // An answer and a close each make room, once.
  for (const [n, link] of others.entries())
    if (n % 2 === 0) dropNote(link)
    else forgetNoted(link)
  for (const link of others) {
    dropNote(link)
    forgetNoted(link)
  }
  expect(isFull()).toEqual([false, false])
  const again = Array.from({ length: 95 }, () => linkWith(MB))
  expect(isFull()).toEqual([false, false])
  again.push(linkWith(MB))
  expect(isFull()).toEqual([true, false])
  for (const link of again) forgetNoted(link)
})
