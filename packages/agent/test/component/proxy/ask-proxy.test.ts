import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freshName } from '../../../../../proof/fresh-name.ts'
import { createProxyProbe } from '../../../src/proxy/ask-proxy.ts'
import { until } from '../../agent-home.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ask-'))
})
afterAll(() => rm(folder, { recursive: true }))

const json = (text: string) => `HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`

/** Answers that a proxy under an attacker's control may give. */
const answers: Readonly<Record<string, (socket: Socket) => unknown>> = {
  nothing: (socket) => socket.end(json('null')),
  'another pid': (socket) => socket.end(json('{"pid":[7]}')),
  'another protocol': (socket) =>
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
  // Each piece costs as much as an ordinary one.
  'a text in pieces of a byte': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
    pour(socket, Buffer.from('1\r\na\r\n'.repeat(50_000)))
  },
  // It is too long for a string of Node: this ended the agent.
  'a text without end': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    pour(socket, Buffer.alloc(1 << 20, 'x'))
  },
}

function pour(socket: Socket, bytes: Buffer): void {
  const go = () => {
    while (!socket.destroyed && socket.write(bytes));
  }
  socket.on('drain', go)
  go()
}

for (const [name, answer] of Object.entries(answers))
  test(`the answer ${name} counts as no answer, and the proxy is asked again`, async () => {
    const path = join(folder, `${freshName('s')}.sock`)
    let hostile = true
    let asked = 0
    let closed = 0
    const server = createServer((socket) => {
      socket.on('error', () => undefined)
      socket.on('close', () => {
        closed += 1
      })
      socket.once('data', () => {
        asked += 1
        if (hostile) answer(socket)
        else socket.end(json('{"pid":7}'))
      })
    })
    await once(server.listen(path), 'listening')
    try {
      const probe = createProxyProbe(path)
      expect(await probe.ask(7)).toHaveProperty('silentMs')
      await until(() => closed === asked)
      hostile = false
      await until(async () => (await probe.ask(7)) === 'answers')
    } finally {
      await new Promise((resolve) => server.close(resolve))
    }
  })
