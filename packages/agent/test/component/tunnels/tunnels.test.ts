import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { agentOperations, createClient, EPOCH_HEADER } from '@fairlead/api'
import { EngineUnreachable } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { sendHead } from '../../../../../proof/half-sent.ts'
import { untilClosed } from '../../../../../proof/until.ts'
import { createTunnels } from '../../../src/tunnels/tunnels.ts'
import { watchLife } from '../../../src/tunnels/watch-life.ts'
import { connectAs, makeHome, makeSpec, socketTransport, type TestHome, until } from '../../agent-home.ts'
import { dialTunnel, mustDial } from '../../dial-tunnel.ts'

async function startShard(home: TestHome) {
  const spec = await makeSpec()
  await home.client.putShard({ params: { id: 's1' }, body: spec })
  await home.becomes('s1', { state: 'running' })
  return spec
}

/** A client that names an epoch with each request. */
function clientUnder(home: TestHome, epoch: string) {
  const transport = socketTransport(home.socketPath)
  return createClient(agentOperations, (request) =>
    transport({ ...request, headers: { ...request.headers, [EPOCH_HEADER]: epoch } }),
  )
}

const stale = { status: 412, code: 'stale_epoch' }

/** For what is not about time. The agent is this very process, and a machine under load lets it stall. */
const PATIENT_MS = 60_000

test('a server speaks to an engine through its agent, which signs in', async () => {
  await using home = await makeHome()
  await using _ = await home.start({ stoodStillMs: PATIENT_MS })
  const spec = await startShard(home)
  const { engine, life } = await mustDial(home.socketPath, 's1', '1:1')
  using _engine = engine
  expect(await engine.call('ACL', 'WHOAMI')).toBe('fairlead')
  const long = 'x'.repeat(3_000_000)
  expect(await engine.call('SET', 'k', long)).toBe('OK')
  expect(await engine.call('GET', 'k')).toBe(long)
  expect((await home.client.readLife({})).life).toBe(life)
  expect(home.logged()).not.toContain(spec.adminPassword)

  expect(await dialTunnel(home.socketPath, 's2', '1:1')).toMatchObject({ status: 503, code: 'unavailable' })
  for (const epoch of [undefined, '1', '300:1'])
    expect(await dialTunnel(home.socketPath, 's1', epoch)).toMatchObject({ status: 400 })
})

test('a tunnel ends with its engine, and is refused where none answers; the next engine is reached by a new one', async () => {
  await using home = await makeHome()
  await using _ = await home.start({ stoodStillMs: PATIENT_MS })
  await startShard(home)
  const { engine } = await mustDial(home.socketPath, 's1', '1:1')
  const { pid } = await home.becomes('s1', {})
  process.kill(pid ?? 0, 'SIGSTOP')
  expect(await dialTunnel(home.socketPath, 's1', '1:1')).toMatchObject({
    status: 503,
    code: 'unavailable',
    message: expect.stringContaining('no connection within'),
  })
  process.kill(pid ?? 0, 'SIGKILL')
  await until(() => !engine.usable)
  const again = async () => 'engine' in (await dialTunnel(home.socketPath, 's1', '1:1'))
  await until(again)
})

// invariant: No byte of a replaced server's tunnel reaches an engine.
test('a higher epoch cuts the tunnels of lower ones before it is answered, and no later byte of theirs reaches the engine', async () => {
  await using home = await makeHome()
  await using _ = await home.start({ stoodStillMs: PATIENT_MS })
  const spec = await startShard(home)
  const old = await mustDial(home.socketPath, 's1', '1:4')
  const other = await mustDial(home.socketPath, 's1', '2:1')
  expect(await old.engine.call('SET', 'by', 'old')).toBe('OK')
  // It waits in the agent, or on its way there, when the next server sends a request.
  const late = old.engine.call('SET', 'by', 'late').catch((cause: unknown) => cause)
  const next = mustDial(home.socketPath, 's1', '1:5')
  await old.engine.call('SET', 'by', 'late').catch(() => undefined)
  await next
  using admin = await connectAs('fairlead', spec)
  await admin.call('SET', 'by', 'next')
  const answers = await Promise.allSettled([late, old.engine.call('SET', 'by', 'latest')])
  expect(answers[1]).toMatchObject({ status: 'rejected', reason: expect.any(EngineUnreachable) })
  expect(await admin.call('GET', 'by')).toBe('next')
  expect(old.engine.usable).toBe(false)
  expect(await dialTunnel(home.socketPath, 's1', '1:4')).toMatchObject(stale)
  expect(await other.engine.call('PING')).toBe('PONG')
})

// invariant: An agent refuses orders, looks and tunnels of a server that was replaced.
test('orders, looks and tunnels of a lower epoch are refused, also by the next agent', async () => {
  await using home = await makeHome()
  const spec = await makeSpec()
  const params = { id: 's1' }
  const refused = async () => {
    const old = clientUnder(home, '1:4')
    const { memoryBytes, evictionPolicy } = spec
    const orders = [
      () => old.putShard({ params, body: spec }),
      () => old.removeShard({ params }),
      () => old.endShardProcess({ params, body: { startedAt: 1 } }),
      () => old.putLimits({ params, body: { memoryBytes, evictionPolicy } }),
      () => old.putShardCertificate({ params, body: { ca: 'x', cert: 'x', key: 'x' } }),
      () => old.reportNode({}),
    ]
    for (const order of orders) await expect(order()).rejects.toMatchObject(stale)
    expect(await dialTunnel(home.socketPath, 's1', '1:4')).toMatchObject(stale)
    // A server that is older than epochs cannot know whether it has been replaced.
    await expect(home.client.removeShard({ params })).rejects.toMatchObject(stale)
    await home.client.reportNode({})
    await clientUnder(home, '2:1').removeShard({ params: { id: 's2' } })
  }
  {
    await using _ = await home.start()
    await clientUnder(home, '1:5').putShard({ params, body: spec })
    expect(JSON.parse(await readFile(join(home.path, 'agent', 'epochs.json'), 'utf8'))).toEqual({ '1': 5 })
    await refused()
  }
  await using _ = await home.start()
  await refused()
  expect((await clientUnder(home, '1:5').reportNode({})).shards).toMatchObject([{ id: 's1' }])
})

test('an order is not carried out if its server was replaced before the body arrived', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  const { method, path } = agentOperations.putShard
  const order = { method, path: path.replace(':id', 's1') }
  const late = await sendHead(home.socketPath, order, { [EPOCH_HEADER]: '1:4' }, await makeSpec())
  // The head has been judged by now: requests are read in the order in which they came.
  await clientUnder(home, '1:4').reportNode({})
  await clientUnder(home, '1:5').reportNode({})
  expect(await late.finish()).toBe(412)
  expect((await home.client.reportNode({})).shards).toEqual([])
})

// invariant: Orders that waited in a stopped agent do not reach the engine.
test('bytes that waited in a stalled agent do not reach the engine when it resumes', async () => {
  await using home = await makeHome()
  const program = fileURLToPath(new URL('../../run-agent.ts', import.meta.url))
  const agent = spawn(process.execPath, [
    '--conditions=@fairlead/source',
    program,
    home.path,
    home.socketPath,
  ])
  try {
    const isUp = () =>
      home.client.readLife({}).then(
        () => true,
        () => false,
      )
    await until(isUp)
    const spec = await startShard(home)
    const { engine, socket, life } = await mustDial(home.socketPath, 's1', '1:1', 2_000)
    using admin = await connectAs('fairlead', spec)
    agent.kill('SIGSTOP')
    const { promise: cut, resolve } = Promise.withResolvers<void>()
    socket.once('close', () => resolve())
    const late = engine.call('SET', 'came', 'late')
    // For as long as its server waits for an answer.
    await expect(late).rejects.toBeInstanceOf(EngineUnreachable)
    agent.kill('SIGCONT')
    await cut
    expect((await home.client.readLife({})).life).not.toBe(life)
    expect(await admin.call('GET', 'came')).toBeNull()
    const { engine: again } = await mustDial(home.socketPath, 's1', '1:1')
    expect(await again.call('PING')).toBe('PONG')
  } finally {
    agent.kill('SIGKILL')
    await once(agent, 'exit')
  }
})

test('a life ends when the process stalled, whether the watch or a byte comes first', () => {
  let now = 0
  const stood: number[] = []
  using life = watchLife((ms) => stood.push(ms), { clock: () => now })
  const { life: first } = life
  now = 1_400
  life.look()
  expect([life.life, stood]).toEqual([first, []])
  now = 1_600
  life.look()
  life.look()
  expect(life.life).not.toBe(first)
  expect(stood).toEqual([1_600])
})

test('bytes that an engine does not read wait in its server, and only a few of them in the agent', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  const spec = await startShard(home)
  const { socket } = await mustDial(home.socketPath, 's1', '1:1')
  const pid = (await home.becomes('s1', {})).pid ?? 0
  process.kill(pid, 'SIGSTOP')
  const chunk = Buffer.alloc(1 << 20, '*1\r\n$4\r\nPING\r\n')
  const kept = () => process.memoryUsage().arrayBuffers
  const before = kept()
  // The server, which is this process too, keeps no copy of them.
  for (let n = 0; n < 64; n += 1) socket.write(chunk)
  const seen: number[] = []
  await until(() => seen.unshift(kept()) > 60 && seen.slice(0, 40).every((each) => each === seen[0]))
  expect(kept() - before).toBeLessThan(16 << 20)
  socket.destroy()
  process.kill(pid, 'SIGCONT')
  using admin = await connectAs('fairlead', spec)
  expect(await admin.call('PING')).toBe('PONG')
})

test('an endless answer of an engine reaches its server as fast as the server reads', async () => {
  const chunk = Buffer.alloc(1 << 20, '*99000\r\n')
  const signedIn: Socket[] = []
  await using engine = await listen((socket) => {
    signedIn.push(socket)
    socket.once('data', () => socket.write('+OK\r\n+PONG\r\n'))
  })
  const flood = (socket: Socket) => {
    while (!socket.destroyed && socket.write(chunk));
  }
  const login = { username: 'fairlead', password: 'x' }
  using tunnels = createTunnels(
    () => ({ address: engine.address, login }),
    () => undefined,
    PATIENT_MS,
  )
  const opened = Promise.withResolvers<void>()
  await using agent = await listen((socket) => {
    tunnels.open({ shard: 's1', epoch: { bucket: 1, epoch: 1 } }, socket, opened.resolve).catch(opened.reject)
  })
  const server = connect(agent.address).pause()
  await opened.promise
  const kept = () => process.memoryUsage().arrayBuffers
  const before = kept()
  for (const socket of signedIn) flood(socket.on('drain', () => flood(socket)))
  const seen: number[] = []
  await until(() => seen.unshift(kept()) > 60 && seen.slice(0, 40).every((each) => each === seen[0]))
  expect(kept() - before).toBeLessThan(16 << 20)
  let read = 0
  server.on('data', ({ length }: Buffer) => {
    read += length
  })
  server.resume()
  await until(() => read > 32 << 20)
  tunnels.cutAll()
  await untilClosed(server)
})

// If a socket was ended and then reset, Node keeps the handle, and the agent's process uses a whole processor
// endlessly.
test('a tunnel whose server ends it is cut, too, while its engine hangs', async () => {
  const signedIn: Socket[] = []
  await using engine = await listen((socket) => {
    signedIn.push(socket)
    socket.once('data', () => socket.write('+OK\r\n+PONG\r\n'))
  }, true)
  using tunnels = createTunnels(
    () => ({ address: engine.address, login: { username: 'fairlead', password: 'x' } }),
    () => undefined,
    PATIENT_MS,
  )
  const opened = Promise.withResolvers<void>()
  await using agent = await listen((socket) => {
    const opening = tunnels.open({ shard: 's1', epoch: { bucket: 1, epoch: 1 } }, socket, () => undefined)
    // At once, as when the socket of the server closes with its last byte.
    opening.then(() => socket.once('end', () => tunnels.cutAll())).then(() => opened.resolve(), opened.reject)
  }, true)
  const server = connect(agent.address)
  await opened.promise
  server.end()
  const [atEngine] = signedIn
  // A write to a closed connection is answered with a reset.
  const isGone = () => {
    atEngine?.write('x')
    return atEngine?.destroyed ?? false
  }
  await until(isGone)
})

test('a tunnel that is cut in the moment in which it is opened is closed at both ends', async () => {
  const signedIn: Socket[] = []
  await using engine = await listen((socket) => {
    signedIn.push(socket)
    socket.once('data', () => socket.write('+OK\r\n+PONG\r\n'))
  })
  using tunnels = createTunnels(
    () => ({ address: engine.address, login: { username: 'fairlead', password: 'x' } }),
    () => undefined,
    PATIENT_MS,
  )
  await using agent = await listen((socket) => {
    void tunnels.open({ shard: 's1', epoch: { bucket: 1, epoch: 1 } }, socket, () => tunnels.cutAll())
  })
  const server = connect(agent.address).on('error', () => undefined)
  server.resume()
  await untilClosed(server)
  await until(() => signedIn.length === 1 && signedIn.every(({ destroyed }) => destroyed))
})

async function listen(onSocket: (socket: Socket) => void, allowHalfOpen = false) {
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen }, (socket) => {
    sockets.add(socket.on('error', () => undefined))
    onSocket(socket)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    address: { host: '127.0.0.1', port: (server.address() as AddressInfo).port },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
