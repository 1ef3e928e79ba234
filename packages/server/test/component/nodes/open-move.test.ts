import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { MOVE_PROTOCOL } from '@fairlead/api'
import { expect, test } from 'vitest'

/** An agent's socket. It answers the order of a move when `answer` is called. */
async function startAgent(path: string) {
  const ordered = Promise.withResolvers<void>()
  let answer: () => void = ordered.reject
  const server = createServer().on('upgrade', (_, socket) => {
    socket.write(`HTTP/1.1 101 OK\r\nconnection: Upgrade\r\nupgrade: ${MOVE_PROTOCOL}\r\n\r\n`)
    answer = () => void socket.write('{"giving":true}\n{"failed":{"by":"silence","why":"it died"}}\n')
    socket.once('data', () => {
      socket.write('{"ready":true}\n')
      socket.once('data', () => ordered.resolve())
    })
  })
  server.listen(path)
  await once(server, 'listening')
  return {
    ordered: ordered.promise,
    answer: () => answer(),
    [Symbol.dispose]: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** A server waits so long for the result of a move. */
const WAITS_MS = 5_000

test('a server that was stopped for longer than it waits still learns that the successor got the order to serve', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'move-'))
  const path = join(folder, 'agent.sock')
  using agent = await startAgent(path)
  const program = join(import.meta.dirname, '../../stopped-server.ts')
  const server = spawn(process.execPath, ['--conditions=@fairlead/source', program, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    await Promise.all([once(server.stdout, 'data'), agent.ordered])
    server.kill('SIGSTOP')
    agent.answer()
    await pause(WAITS_MS + 300)
    server.kill('SIGCONT')
    const [said] = (await once(server.stdout, 'data')) as [Buffer]
    expect(said.toString()).toBe('given\n')
  } finally {
    server.kill('SIGKILL')
    await rm(folder, { recursive: true })
  }
})
