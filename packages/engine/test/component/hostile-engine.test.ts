import { fork } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectEngine, type EngineConnection, EngineError, EngineUnreachable } from '../../src/connection.ts'
import { hostile } from '../hostile-engines.ts'

// In a process of its own, so that the cost of sending all this is not counted.
const engines = fork(new URL('../hostile-engines.ts', import.meta.url))
let ports: Readonly<Record<string, number>> = {}
let neighbour: Server

/** Accepts every login, and answers each command with `answer`. */
async function serve(answer: string): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => {
      socket.write('+OK\r\n+PONG\r\n')
      socket.on('data', () => socket.write(answer))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

function connect(
  port: number,
  more: { readonly onMessage?: () => void; readonly commandTimeoutMs?: number } = {},
): Promise<EngineConnection> {
  const address = { host: '127.0.0.1', port }
  return connectEngine({
    address,
    login: { username: 'nobody', password: '' },
    connectTimeoutMs: 60_000,
    commandTimeoutMs: 60_000,
    ...more,
  })
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}

beforeAll(async () => {
  const [told] = await once(engines, 'message')
  ports = told
  neighbour = await serve('+PONG\r\n')
})

afterAll(() => {
  engines.disconnect()
  neighbour.close()
})

/**
 * Milliseconds of the processor that went by, at most, before the neighbour was answered, while `work` went
 * on: how busy the machine is does not count.
 */
async function slowestBeside(work: Promise<unknown>): Promise<number> {
  using beside = await connect(portOf(neighbour))
  let slowest = 0
  let isOver = false
  void work.finally(() => {
    isOver = true
  })
  while (!isOver) {
    const before = process.cpuUsage()
    await beside.call('PING')
    const { user, system } = process.cpuUsage(before)
    slowest = Math.max(slowest, (user + system) / 1_000)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return slowest
}

// invariant: An answer of an engine can end its own connection, and nothing else.
test.each([...hostile.said, ...hostile.floods])(
  'an engine that answers with %s ends its own connection, and its neighbour is answered',
  async (name) => {
    // Some of these answers are half a message: no more comes.
    using connection = await connect(ports[name] ?? 0, { commandTimeoutMs: 300 })
    const before = process.memoryUsage.rss()
    // The first reply may be valid. A reply too many that arrives late is the answer to the second question;
    // then the third gets none.
    const asked = (async () => {
      let cause: unknown
      for (let n = 0; n < 3 && cause === undefined; n += 1)
        cause = await connection.call('INFO').then(
          () => undefined,
          (error: unknown) => error,
        )
      expect(cause).toBeInstanceOf(EngineUnreachable)
    })()
    const slowest = await slowestBeside(asked)
    await asked
    expect(connection.usable).toBe(false)
    const grownMb = (process.memoryUsage.rss() - before) / 1e6
    // Without bounds it was 1,300 to 2,900 ms, and 440 MB.
    expect({ isSlow: slowest > 500, isLarge: grownMb > 200 }).toEqual({ isSlow: false, isLarge: false })
  },
)

test('the text of an error is printable and short', async () => {
  await using server = await serve(`-ERR \x1b[2J\u202eline ${'x'.repeat(50_000)}\r\n`)
  using connection = await connect(portOf(server))
  const cause = await connection.call('INFO').catch((error: unknown) => error)
  expect(cause).toBeInstanceOf(EngineError)
  expect(String(cause)).toMatch(/^EngineError: ERR \?\[2J\?line x{480,}…$/)
  expect(connection.usable).toBe(true)
})

test('an error inside a list is given as its text, and texts are UTF-8', async () => {
  await using server = await serve('*4\r\n-ERR no\r\n$3\r\n€\r\n:-7\r\n*-1\r\n')
  using connection = await connect(portOf(server))
  expect(await connection.call('EXEC')).toEqual(['ERR no', '€', -7, null])
})

test('messages of a channel are for a connection that listens, a thousand at most; on any other connection they are unrequested', async () => {
  const message = '*3\r\n$8\r\nsmessage\r\n$1\r\nc\r\n$0\r\n\r\n'
  await using server = await serve(`*3\r\n$10\r\nssubscribe\r\n$1\r\nc\r\n:1\r\n${message.repeat(2_000)}`)
  let heard = 0
  using listener = await connect(portOf(server), {
    onMessage: () => {
      heard += 1
    },
  })
  expect(await listener.call('SSUBSCRIBE', 'c')).toEqual(['ssubscribe', 'c', 1])
  using other = await connect(portOf(server))
  await other.call('SSUBSCRIBE', 'c')
  await expect(other.call('PING')).rejects.toThrow('an unrequested message')
  await expect(listener.call('PING')).rejects.toThrow('more than 1000 messages')
  expect(heard).toBe(1_000)
})
