import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { dial, type RawClient } from './stage.ts'

/** What values here are made of, again and again: no byte of a long value is where another of them could stand unnoticed. */
const pattern = Buffer.from(Uint32Array.from({ length: 64 * 1024 }, (_, n) => n * 2_654_435_761).buffer)

/** Sends SET with a value of so many bytes, which is never held here as a whole; resolves when it is answered with OK. */
export async function setLongValue(port: number, key: string, bytes: number): Promise<void> {
  await using value = await beginLongValue(port, key, bytes)
  await value.sendUpTo(bytes)
  await value.isSet()
}

/** A client on its way through a SET. */
export interface LongValue extends AsyncDisposable {
  readonly client: RawClient
  /** Sends on, as fast as it is taken, until so many bytes of the value have been sent. */
  sendUpTo(bytes: number): Promise<void>
  /** Behind the last byte: waits for OK, and throws for any other answer. */
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

/** Sends GET and looks at each byte that comes, and keeps none. How many there were; throws when one is not what was set. */
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

/** From now on the most it has had is what it has. */
export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
}
