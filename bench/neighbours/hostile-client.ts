import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { encodeCommand } from '@fairlead/engine'

/** The address to which a client connects. */
export interface Door {
  readonly port: number
  readonly password: string
  /** The authority to trust, if the port speaks TLS. */
  readonly ca: string | null
}

/** A hostile client. Its promises reject when it is closed. */
export interface HostileClient extends Disposable {
  readonly socket: Socket
  /** Sends bytes. Resolves when the kernel has all of them. */
  send(bytes: Buffer): Promise<void>
  /** Sends requests, and reads until all of them are answered. */
  ask(bytes: Buffer): Promise<void>
  /** Reads until this many further line ends have come. */
  lines(count: number): Promise<void>
}

const LAST = 'the-last-word'
const last = encodeCommand(['PING', LAST])

/** `gone` rejects when the connection is closed. */
async function open({ port, ca }: Door) {
  const to = { host: '127.0.0.1', port }
  const socket =
    ca === null ? connect({ ...to, noDelay: true }) : connectTls({ ...to, ca, servername: 'localhost' })
  const gone = once(socket, 'close').then(() => {
    throw new Error('closed')
  })
  gone.catch(() => undefined)
  socket.on('error', () => undefined)
  await Promise.race([once(socket, ca === null ? 'connect' : 'secureConnect'), gone])
  return { socket, gone }
}

/** A client that has not signed in. */
export async function enter(door: Door): Promise<HostileClient> {
  const { socket, gone } = await open(door)
  let tail = ''
  let lineEnds = 0
  let onData: () => unknown = () => undefined
  socket.on('data', (chunk: Buffer) => {
    for (let at = chunk.indexOf(LF); at >= 0; at = chunk.indexOf(LF, at + 1)) lineEnds += 1
    tail = (tail + chunk.toString('latin1', Math.max(0, chunk.length - 64))).slice(-64)
    onData()
  })
  const until = (isSo: () => boolean) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    onData = () => isSo() && resolve()
    onData()
    return Promise.race([promise, gone])
  }
  const send = async (bytes: Buffer) => {
    if (!socket.write(bytes)) await Promise.race([once(socket, 'drain'), gone])
  }
  return {
    socket,
    send,
    async ask(bytes) {
      tail = ''
      await send(Buffer.concat([bytes, last]))
      await until(() => tail.includes(LAST))
    },
    async lines(count) {
      const wanted = lineEnds + count
      await until(() => lineEnds >= wanted)
    },
    [Symbol.dispose]: () => socket.destroy(),
  }
}

const LF = 0x0a

export async function signIn(door: Door): Promise<HostileClient> {
  const client = await enter(door)
  await client.ask(encodeCommand(['AUTH', door.password]))
  return client
}

const STUCK_MS = 500

/** Sends the same bytes repeatedly, reads nothing, and closes when the other side accepts no more. */
export async function sendUnread(client: HostileClient, bytes: Buffer): Promise<void> {
  client.socket.pause()
  for (let isTaken = true; isTaken; ) {
    const sent = client.send(bytes).then(() => true)
    sent.catch(() => undefined)
    isTaken = await Promise.race([sent, pause(STUCK_MS, false)])
  }
}
