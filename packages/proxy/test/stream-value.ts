import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { dial, type RawClient } from './stage.ts'

/** The repeated content of the values here. A byte of a long value at a wrong place is always noticed. */
const pattern = Buffer.from(Uint32Array.from({ length: 64 * 1024 }, (_, n) => n * 2_654_435_761).buffer)

/**
 * Sends SET with a value of `bytes` bytes, which is never held here as a whole; resolves when the answer is
 * OK.
 */
export async function setLongValue(port: number, key: string, bytes: number): Promise<void> {
  await using value = await beginLongValue(port, key, bytes)
  await value.sendUpTo(bytes)
  await value.isSet()
}

/** A client in the middle of a SET. */
export interface LongValue extends AsyncDisposable {
  readonly client: RawClient
  /** Continues, as fast as the other side reads, until this many bytes of the value have been sent. */
  sendUpTo(bytes: number): Promise<void>
  /** Called after the last byte: waits for OK, and throws for any other answer. */
  isSet(): Promise<void>
}

export async function beginLongValue(port: number, key: string, bytes: number): Promise<LongValue> {
  const client = await dial(port)
  const { socket } = client
  let sent = 0
  client.send(`*3\r\n$3\r\nSET\r\n$${key.length}\r\n${key}\r\n$${bytes}\r\n`)
  return {
    client,
    async sendUpTo(goal) {
      while (sent < Math.min(goal, bytes)) {
        const from = sent % pattern.length
        const piece = pattern.subarray(from, from + Math.min(goal, bytes) - sent)
        sent += piece.length
        if (!socket.write(piece)) await once(socket, 'drain')
      }
      if (sent === bytes) client.send('\r\n')
    },
    isSet: () => client.gets('+OK\r\n'),
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  }
}

/**
 * Sends GET, and compares each byte of the reply without keeping it. Answers their number; throws when one
 * differs from the value.
 */
export async function getLongValue(port: number, key: string): Promise<number> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true })
  socket.write(`GET ${key}\r\n`)
  let header = ''
  let expected = Number.POSITIVE_INFINITY
  let got = 0
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    let at = 0
    if (expected === Number.POSITIVE_INFINITY) {
      header += chunk.toString('latin1', 0, 64)
      const length = /^\$(\d+)\r\n/.exec(header)
      if (length === null) throw new Error(`GET was answered with ${header.slice(0, 64)}`)
      at = length[0].length
      expected = Number(length[1])
    }
    while (at < chunk.length && got < expected) {
      const from = got % pattern.length
      const piece = Math.min(chunk.length - at, pattern.length - from, expected - got)
      if (chunk.compare(pattern, from, from + piece, at, at + piece) !== 0)
        throw new Error(`the value differs within ${piece} bytes from ${got}`)
      at += piece
      got += piece
    }
    if (got === expected && chunk.subarray(-2).toString() === '\r\n') return got
  }
  throw new Error(`the connection ended after ${got} bytes`)
}

/** The most memory that a process has had since `forgetPeak`, in bytes. */
export function peakBytes(pid: number): number {
  return 1_024 * Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
}

/** Resets the peak of a process to its present memory. */
export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
}
