import { expect, test } from 'vitest'
import type { Connection } from '../connection/connection.ts'
import { freshState } from '../remembered/connection-state.ts'
import { isHeldBack, orderReplies } from './order-replies.ts'
import { type Backend, createBackend, createRouter, makePendingReply, type Shards } from './router.ts'

const MESSAGE = Buffer.from('>3\r\n$7\r\nmessage\r\n$1\r\nn\r\n$1\r\nm\r\n')
const MOST_HELD_BYTES = 64 * 1024

/** A client with two groups: its replies, and whether the link to a group is read. */
function makeStage() {
  const told: Buffer[] = []
  const client = {
    writableNeedDrain: false,
    write: (bytes: Buffer) => told.push(Buffer.from(bytes)) > 0,
    isPaused: () => false,
    cork: () => undefined,
    uncork: () => undefined,
  }
  const router = createRouter(client as never, {} as never, {} as Shards, () => undefined) // all that is asked of them
  const makeGroup = (group: number) => {
    const link = { isRead: true, unread: null }
    const socket = {
      isPaused: () => !link.isRead,
      pause() {
        link.isRead = false
      },
      resume() {
        link.isRead = true
      },
    }
    const backend: Backend = createBackend(router, group, (self) => {
      const side = {
        get writableNeedDrain() {
          return isHeldBack(self())
        },
      }
      return {
        session: { state: { ...freshState, protocol: 3 } },
        move: { lateBytes: 0 },
        client: side,
        link: { socket, unread: null },
      } as unknown as Connection
    })
    const say = (bytes: Buffer) => {
      orderReplies(backend, bytes)
      if (isHeldBack(backend)) socket.pause()
    }
    return { backend, link, say }
  }
  return { router, told: () => Buffer.concat(told).toString(), first: makeGroup(0), second: makeGroup(1) }
}

test('messages that come in the middle of a long reply of another group wait in their engine, except for a few', () => {
  const { router, told, first, second } = makeStage()
  const pendingReply = makePendingReply({})
  router.pending.push(pendingReply)
  second.backend.pending.push(pendingReply)
  const value = 'v'.repeat(100_000)
  second.say(Buffer.from(`$${value.length}\r\n${value.slice(1)}`))
  let messages = 0
  while (first.link.isRead && messages < 10_000) {
    first.say(MESSAGE)
    messages += 1
  }
  expect(messages).toBe(Math.floor(MOST_HELD_BYTES / MESSAGE.length) + 1)
  expect(told()).not.toContain('message')
  second.say(Buffer.from('v\r\n'))
  first.say(MESSAGE)
  expect([first.link.isRead, first.backend.heldBytes]).toEqual([true, 0])
  expect(told()).toBe(`$${value.length}\r\n${value}\r\n${MESSAGE.toString().repeat(messages + 1)}`)
})
