import { setTimeout as pause } from 'node:timers/promises'
import { encodeCommand } from '@fairlead/engine'
import { type Door, enter, sendUnread, signIn } from './hostile-client.ts'

export interface HostileCase {
  readonly at: 'plain' | 'sharded' | 'tls' | 'sentinel'
  readonly connections: number
  /** What one connection does, from its opening to its end. It is repeated. */
  readonly act: (door: Door) => Promise<void>
  /** The same is done to an engine without an endpoint, to compare. */
  readonly onBare: boolean
}

export const words = (...all: readonly string[]) => encodeCommand(all)
export const many = (count: number, make: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => make(n))
export const times = (count: number, make: (n: number) => Buffer) =>
  Buffer.concat(Array.from({ length: count }, (_, n) => make(n)))
export const line = (text: string) => Buffer.from(`${text}\r\n`, 'latin1')
/** A request of these words, and this many empty words. */
export const empties = (count: number, ...first: readonly string[]) =>
  Buffer.concat([
    Buffer.from(`*${first.length + count}\r\n`),
    ...first.map((word) => Buffer.from(`$${word.length}\r\n${word}\r\n`)),
    Buffer.from('$0\r\n\r\n'.repeat(count)),
  ])

/** Signs in, and sends the same request repeatedly. */
export function asks(bytes: Buffer | (() => Buffer)): (door: Door) => Promise<void> {
  return async (door) => {
    const request = Buffer.isBuffer(bytes) ? bytes : bytes()
    using client = await signIn(door)
    for (;;) await client.ask(request)
  }
}

/** Sends the same request once on each connection. */
export function asksOnce(bytes: Buffer, prepare: Buffer = Buffer.alloc(0)): (door: Door) => Promise<void> {
  return async (door) => {
    using client = await signIn(door)
    await client.ask(prepare)
    await client.ask(bytes)
  }
}

export function unread(bytes: Buffer, prepare: Buffer = Buffer.alloc(0)): (door: Door) => Promise<void> {
  return async (door) => {
    using client = await signIn(door)
    await client.ask(prepare)
    await sendUnread(client, bytes)
  }
}

/** Without a login: each request is answered with an error of one line. */
export function strangerAsks(bytes: Buffer, answers: number): (door: Door) => Promise<void> {
  return async (door) => {
    using client = await enter(door)
    for (;;) {
      await client.send(bytes)
      await client.lines(answers)
    }
  }
}

export function unfinished(bytes: Buffer): (door: Door) => Promise<void> {
  return async (door) => {
    using client = await signIn(door)
    await client.send(bytes)
    await pause(200)
  }
}
