import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setImmediate as whatCame } from 'node:timers/promises'
import { connectToOwn } from '@fairlead/engine'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import type { CursorsNow } from '../../../src/handover/cursors-now.ts'
import { connectOnce, connectUntil } from '../../../src/handover/open-link.ts'
import { until } from '../../stage.ts'

// Files of a worker share their modules: this one loads its own, with the mock, and the next file loads them
// anew.
vi.hoisted(() => vi.resetModules())
afterAll(() => void vi.resetModules())
vi.mock('@fairlead/engine', async (original) => {
  const engine = await original<typeof import('@fairlead/engine')>()
  return { ...engine, connectToOwn: vi.fn(engine.connectToOwn) }
})
afterEach(() => vi.restoreAllMocks())

const host = '127.0.0.1'
const SOON_MS = 300
const ignore = () => undefined

/** Accepts connections, sends nothing, and counts the open connections. */
async function startSilent() {
  const open = new Set<Socket>()
  let accepted = 0
  const server = createServer((socket) => {
    accepted += 1
    open.add(
      socket
        .on('error', ignore)
        .on('close', () => open.delete(socket))
        .resume(),
    )
  }).listen(0, host)
  await once(server, 'listening')
  return {
    port: (server.address() as { port: number }).port,
    accepted: () => accepted,
    open: () => open.size,
    end: () => {
      for (const socket of open) socket.destroy()
    },
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

async function expectLate(port: number, tls: { ca: string } | null): Promise<void> {
  // Without a deadline the wait would never end.
  await expect(connectOnce({ host, port, tls }, performance.now() + SOON_MS, ignore)).rejects.toThrow(
    'in time',
  )
}

test('an engine that accepts and sends nothing is given up in time, if its answer is needed', async () => {
  await using silent = await startSilent()
  await expectLate(silent.port, { ca: '' })
  await until(() => silent.accepted() === 1)
  await until(() => silent.open() === 0)
  const socket = await connectOnce({ host, port: silent.port, tls: null }, performance.now() + 60_000, ignore)
  socket.destroy()
})

test('a connection that is never accepted is given up in time', async () => {
  const program =
    "require('node:net').createServer().listen({port:0,host:'127.0.0.1',backlog:1},function(){console.log(this.address().port)})"
  const stopped = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
  const fillers: Socket[] = []
  try {
    const [line] = (await once(stopped.stdout, 'data')) as [Buffer]
    const port = Number(String(line))
    stopped.kill('SIGSTOP')
    // As many as the kernel takes for it wait to be accepted; the next one gets no answer.
    for (;;) {
      const filler = connect(port, host).on('error', ignore)
      fillers.push(filler)
      await Promise.race([once(filler, 'connect'), new Promise((tell) => setTimeout(tell, 500))])
      // Where this process has stalled, what came meanwhile is read first.
      await whatCame()
      if (filler.connecting) break
    }
    await expectLate(port, null)
  } finally {
    for (const filler of fillers) filler.destroy()
    stopped.kill('SIGKILL')
    await once(stopped, 'exit')
  }
})

test.for(['before', 'behind'])(
  'a proof of the listener’s user that takes too long is not waited for: %s the connection',
  async (when) => {
    await using silent = await startSilent()
    const proof = Promise.withResolvers<void>()
    vi.mocked(connectToOwn).mockImplementation(async (_address, open, drop) => {
      if (when === 'before') await proof.promise
      const connection = await open()
      await proof.promise
      drop(connection)
      throw new Error('not ours')
    })
    await expectLate(silent.port, null)
    if (when === 'behind') await until(() => silent.accepted() === 1)
    await until(() => silent.open() === 0)
    proof.resolve()
    await Promise.all(
      vi.mocked(connectToOwn).mock.results.map(({ value }) => expect(value).rejects.toThrow()),
    )
    expect(silent.accepted()).toBe(when === 'before' ? 0 : 1)
  },
)

test('an engine that ends during the proof of its user counts as not reached', async () => {
  await using silent = await startSilent()
  vi.mocked(connectToOwn).mockImplementation(async (_address, open) => {
    const connection = await open()
    await until(() => silent.open() === 1)
    silent.end()
    await once(connection as Socket, 'close')
    return connection
  })
  const target = {
    host,
    port: silent.port,
    tls: null,
    cursors: { hasEnded: ignore } as unknown as CursorsNow,
  }
  const connected = connectUntil({ mode: 'closed' }, target, performance.now() + 60_000, ignore)
  await expect(connected).rejects.toThrow(`${host}:${silent.port} closed the connection`)
})

test('if the deadline ends the last attempt, the reason of the attempt before is told, also if the timer is a little early', async () => {
  const now = performance.now.bind(performance)
  const untilMs = now() + 100
  const early = vi.spyOn(performance, 'now').mockImplementation(() => Math.min(now(), untilMs - 0.5))
  vi.mocked(connectToOwn)
    .mockRejectedValueOnce(new Error('it is refused'))
    .mockImplementation(() => new Promise(() => undefined))
  const target = { host, port: 1, tls: null, cursors: { hasEnded: ignore } as unknown as CursorsNow }
  try {
    await expect(connectUntil({ mode: 'opening' }, target, untilMs, ignore)).rejects.toThrow('it is refused')
  } finally {
    early.mockRestore()
  }
})
