import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { agentOperations, proxyOperations } from '@fairlead/api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshName } from '../../../../../proof/fresh-name.ts'
import { AgentUnreachable, connectAgent } from '../../../src/nodes/agent-link.ts'
import { connectProxy } from '../../../src/nodes/proxy-link.ts'
import { socketTransport } from '../../../src/nodes/socket-transport.ts'

/** Answers that a compromised process may give, and the reasons that are reported. */
const answers: Readonly<Record<string, readonly [(socket: Socket) => void, string]>> = {
  'with another protocol': [
    (socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n')
    },
    'its answer is of another protocol',
  ],
  'without end': [
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      pour(socket, Buffer.alloc(1 << 20, 'x'))
    },
    'longer than',
  ],
  'in pieces of a byte': [
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
      pour(socket, Buffer.from('1\r\na\r\n'.repeat(50_000)))
    },
    'too small pieces',
  ],
  'more than it has announced': [
    (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}'),
    '',
  ],
  'by half a head': [(socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-le'), ''],
  'what is no HTTP': [(socket) => socket.end('+PONG\r\n'), ''],
}

function pour(socket: Socket, bytes: Buffer): void {
  const go = () => {
    while (!socket.destroyed && socket.write(bytes));
  }
  socket.on('drain', go)
  go()
}

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'transport-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** At a Unix socket of its own, whatever it is asked. */
async function answerWith(answer: (socket: Socket) => void) {
  const path = join(folder, `${freshName('s')}.sock`)
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('data', () => answer(socket))
  })
  await once(server.listen(path), 'listening')
  return {
    path,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

describe('a process that answers', () => {
  for (const [name, [answer, words]] of Object.entries(answers))
    test(`${name} counts as no answer, with its reason`, async () => {
      await using other = await answerWith(answer)
      // It may pour more than a busy machine reads in the time that a server waits.
      const agent = connectAgent(agentOperations, other.path, { withinMs: 60_000 })
      await expect(agent.reportNode({})).rejects.toMatchObject({
        name: 'AgentUnreachable',
        message: expect.stringContaining(words),
      })
      const proxy = connectProxy(proxyOperations, other.path)
      await expect(proxy.reportProxy({})).rejects.toThrow(words)
    })
})

const unfit: readonly (readonly [number, string])[] = [
  [200, ''],
  [200, 'null'],
  [200, '[]'],
  [200, '{}'],
  [200, '{"pid":1,"rssBytes":1,"endpoints":5,"sentinel":null}'],
  [200, '{"drained":"yes","ms":{},"why":7,"late":-1}'],
  [200, '{"moved":1e400,"later":"1","closed":[],"heldMs":"x"}'],
  [409, '{"error_code":{},"message":{}}'],
  [409, '{"error_code":"__proto__","message":"x"}'],
  [412, ''],
  [412, 'null'],
]

test.each(unfit)('a proxy that answers %i with %j has given no answer', async (status, body) => {
  await using other = await answerWith((socket) =>
    socket.end(`HTTP/1.1 ${status} X\r\ncontent-length: ${body.length}\r\n\r\n${body}`),
  )
  const proxy = connectProxy(proxyOperations, other.path, { epoch: { bucket: 1, epoch: 1 } })
  const params = { id: 'db1' }
  const upstream = { host: '127.0.0.1', port: 1 }
  const asked = await Promise.allSettled([
    proxy.reportProxy({}),
    proxy.holdEndpoint({ params, body: { deadlineMs: 1 } }),
    proxy.switchEndpoint({ params, body: { upstream } }),
    proxy.releaseEndpoint({ params, body: {} }),
    proxy.takeScripts({ params, body: { upstream, all: true } }),
    proxy.giveUpBlocked({ params, body: {} }),
    proxy.listClients({ params, query: { limit: 1 } }),
  ])
  for (const each of asked)
    expect(each).toMatchObject({ status: 'rejected', reason: expect.any(AgentUnreachable) })
})

test('an answer as long as is allowed is read', async () => {
  const text = 'x'.repeat(1 << 20)
  await using other = await answerWith((socket) => socket.end(`HTTP/1.1 200 OK\r\n\r\n${text}`))
  const bounds = { withinMs: 20_000, unreachable: (cause: Error) => cause }
  const ask = (mostBytes: number) =>
    socketTransport(other.path, { ...bounds, mostBytes })({ method: 'GET', path: '/', headers: {} })
  expect(await ask(1 << 20)).toEqual({ status: 200, text })
  await expect(ask((1 << 20) - 1)).rejects.toThrow('longer than')
})

test.each(['', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf'])(
  'an answer of which only %j comes in time is late, in words for people',
  async (start) => {
    await using other = await answerWith((socket) => socket.write(start))
    const ask = socketTransport(other.path, { withinMs: 100, unreachable: (cause) => cause })
    await expect(ask({ method: 'GET', path: '/', headers: {} })).rejects.toThrow(/^no answer within 100 ms$/)
  },
)
