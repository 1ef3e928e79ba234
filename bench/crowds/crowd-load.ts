import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { encodeCommand } from '@fairlead/engine'

/** What the clients of a crowd do, besides the writers. */
export const crowds = {
  none: null,
  idle: () => ['PING'],
  blpop: (n: number) => ['BLPOP', `queue-${n}`, '0'],
  xreadgroup: (n: number) => [
    'XREADGROUP',
    'GROUP',
    'group',
    `c${n}`,
    'BLOCK',
    '0',
    'STREAMS',
    'stream',
    '>',
  ],
  subscribe: (n: number) => ['SUBSCRIBE', `channel-${n}`],
  psubscribe: (n: number) => ['PSUBSCRIBE', `channel-${n}-*`],
  ssubscribe: (n: number) => ['SSUBSCRIBE', `channel-${n}`],
} as const
export type Crowd = keyof typeof crowds

export interface LoadOptions {
  readonly port: number
  readonly password: string
  /** The authority to trust, if the endpoint speaks TLS. */
  readonly ca: string | null
  /** Clients that write, each with one request under way, and how many writes a second they ask for together. */
  readonly writers: number
  readonly perSecond: number
  readonly crowd: Crowd
  readonly count: number
}

/** A request of one client, or a time in which none was answered; in Unix ms. */
export interface Span {
  readonly fromMs: number
  readonly toMs: number
}

export interface LoadReport {
  readonly acked: number
  readonly seconds: number
  /** Writes that waited for 3 ms or more for their answers. */
  readonly slow: readonly Span[]
  /** Times of 3 ms or more in which no write was answered. */
  readonly gaps: readonly Span[]
  /** Answers that were errors, and connections that ended. */
  readonly errors: number
}

export interface CrowdLoad {
  stop(): LoadReport
}

const AT_ONCE = 100
const SHORTEST_MS = 3
const VALUE = 'x'.repeat(100)

/** Resolves when the crowd is connected, and the writers are at work. */
export async function startCrowdLoad(options: LoadOptions): Promise<CrowdLoad> {
  const { writers, perSecond, crowd, count } = options
  let errors = 0
  const fail = () => {
    errors += 1
  }
  const first = await dialIn(options, fail)
  if (crowd === 'xreadgroup')
    first.write(encodeCommand(['XGROUP', 'CREATE', 'stream', 'group', '$', 'MKSTREAM']))
  const command = crowds[crowd]
  if (command !== null)
    await inTurns(count, async (n) => {
      const socket = await dialIn(options, fail)
      socket.write(encodeCommand(command(n)))
      socket.on('data', (bytes: Buffer) => bytes[0] === MINUS && fail())
    })

  const beganMs = performance.now()
  let lastMs = beganMs
  let acked = 0
  const slow: Span[] = []
  const gaps: Span[] = []
  const idle: Writer[] = []
  await inTurns(writers, async () => {
    const writer: Writer = { socket: await dialIn(options, fail), sentMs: 0 }
    idle.push(writer)
    writer.socket.on('data', (bytes: Buffer) => {
      if (bytes[0] === MINUS) fail()
      const now = performance.now()
      if (now - writer.sentMs >= SHORTEST_MS) slow.push(span(writer.sentMs, now))
      if (now - lastMs >= SHORTEST_MS) gaps.push(span(lastMs, now))
      lastMs = now
      acked += 1
      idle.push(writer)
    })
  })
  let sent = 0
  const startedMs = performance.now()
  lastMs = startedMs
  const timer = setInterval(() => {
    const due = ((performance.now() - startedMs) / 1_000) * perSecond
    for (; sent < due; sent += 1) {
      const writer = idle.shift()
      // All writers wait for answers: requests that could not be sent in this time are left out.
      if (writer === undefined) {
        sent = due
        return
      }
      writer.sentMs = performance.now()
      writer.socket.write(encodeCommand(['SET', `key-${sent % 10_000}`, VALUE]))
    }
  }, 1)
  return {
    stop() {
      clearInterval(timer)
      return { acked, seconds: (performance.now() - startedMs) / 1_000, slow, gaps, errors }
    },
  }
}

interface Writer {
  readonly socket: Socket
  sentMs: number
}

const MINUS = '-'.charCodeAt(0)

async function dialIn({ port, password, ca }: LoadOptions, fail: () => void): Promise<Socket> {
  const to = { host: '127.0.0.1', port }
  const socket =
    ca === null ? connect({ ...to, noDelay: true }) : connectTls({ ...to, ca, servername: 'localhost' })
  await once(socket, ca === null ? 'connect' : 'secureConnect')
  socket.setNoDelay(true)
  socket.on('close', fail)
  socket.on('error', () => undefined)
  socket.write(encodeCommand(['AUTH', password]))
  await once(socket, 'data')
  return socket
}

async function inTurns(count: number, act: (n: number) => Promise<void>): Promise<void> {
  let next = 0
  const work = async () => {
    while (next < count) await act(next++)
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, count) }, work))
}

function span(fromMs: number, toMs: number): Span {
  return { fromMs: performance.timeOrigin + fromMs, toMs: performance.timeOrigin + toMs }
}
