import { spawn, spawnSync } from 'node:child_process'
import { lstatSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createClient, type ProxyState, proxyOperations } from '@fairlead/api'
import { isProxyUser } from '@fairlead/engine'
import pino from 'pino'
import { expect, test } from 'vitest'
import { openEngineWall } from '../../../src/engine/engine-wall.ts'
import { signalProcess } from '../../../src/process/process-identity.ts'
import { processesOfOthers } from '../../../src/process/processes-of-others.ts'
import { proxyFolder } from '../../../src/proxy/proxy-folder.ts'
import { makeHome, makeSpec, ownPort, socketTransport, type TestHome, until } from '../../agent-home.ts'

const main = fileURLToPath(new URL('../../../../proxy/src/main.ts', import.meta.url))
const proxyProgram = [process.execPath, '--conditions=@fairlead/source', main]
const workers = [...proxyProgram, '--workers', '2']
const RIGHTS = ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb']
const NET_BIND_SERVICE = 0x400

const isRoot = process.getuid?.() === 0
const probe = await mkdtemp(join(tmpdir(), 'wall-'))
const { missing } = await openEngineWall(probe, true, pino({ level: 'silent' }))
await rm(probe, { recursive: true })
const gives = test.runIf(isRoot && missing === null)

// invariant: Started as root, the proxy is another user without rights.
gives(
  'started by root, the proxy is another user without rights, and sees its own folder and nothing else of Fairlead',
  async () => {
    await using home = await makeProxyHome()
    for (const name of ['store.key', 'store.db'])
      await writeFile(join(home.path, name), 'secret', { mode: 0o600 })
    await using _agent = await home.start({ proxyProgram })
    await home.client.putShard({ params: { id: 'a-1' }, body: await makeSpec() })
    await home.becomes('a-1', { state: 'running' })
    const { pid } = await home.proxyBecomes({ state: 'running', crashes: 0 })

    const { uid } = statSync(`/proc/${pid}`)
    expect(isProxyUser(uid)).toBe(true)
    expect(statusOf(pid, ['Uid', 'Gid'])).toEqual(Array(2).fill(Array(4).fill(uid).join('\t')))
    expect(statusOf(pid, ['Groups', 'NoNewPrivs', ...RIGHTS]).map(Number)).toEqual([0, 1, 0, 0, 0, 0, 0])
    const inside = join(`/proc/${pid}/root`, home.path)
    expect([readdirSync(inside), readdirSync(join(inside, 'proxy'))]).toEqual([['proxy'], ['own', 'shards']])
    // The user itself has no access either: a process of this user outside of the wall.
    const shard = join(home.path, 'shards', 'a-1')
    for (const path of ['store.key', 'store.db', 'proxy/process.json'].map((name) => join(home.path, name)))
      expect(asUser(uid, ['cat', path])).not.toBe(0)
    expect([asUser(uid, ['ls', shard]), asUser(uid, ['ls', home.path])]).not.toContain(0)
    expect(lstatSync(join(home.path, 'proxy', 'process.json')).uid).toBe(0)
    expect(processesOfOthers(home.path, 65_534).map((each) => [each.pid, each.uid])).toEqual([
      [pid, 0],
      [expect.any(Number), 0],
    ])
  },
)

gives(
  'an older proxy that runs as root is adopted; the next one has a user of its own and serves the same endpoints, with several threads; and the reverse',
  async () => {
    await using home = await makeProxyHome()
    await using engine = await echoServer()
    const port = await ownPort()
    let before: number | null
    {
      await using _ = await home.start({ proxyProgram, engineWall: false })
      before = (await home.proxyBecomes({ state: 'running' })).pid
      expect(userOf(before)).toBe(0)
      expect(home.logged()).toContain('the proxy runs as root')
      await home.putEndpoint(port, engine.port)
    }
    {
      await using _ = await home.start({ proxyProgram: workers })
      expect(await home.proxyBecomes({ state: 'running' })).toMatchObject({ pid: before, crashes: 0 })
      expect(await ping(port)).toBe('+PONG\r\n')
      process.kill(before ?? 0, 'SIGKILL')
      const { pid } = await home.proxyBecomes({ state: 'running', crashes: 1 })
      expect(isProxyUser(userOf(pid))).toBe(true)
      expect(await ping(port)).toBe('+PONG\r\n')
      expect(readdirSync(home.folder.path).toSorted()).not.toContain('endpoints.json')
      before = pid
    }
    await using _ = await home.start({ proxyProgram, engineWall: false })
    process.kill(before ?? 0, 'SIGKILL')
    const { pid } = await home.proxyBecomes({ state: 'running', crashes: 2 })
    expect(userOf(pid)).toBe(0)
    expect(await ping(port)).toBe('+PONG\r\n')
    expect(readdirSync(home.folder.own)).not.toContain('endpoints.json')
  },
)

gives(
  'the proxy may open a port below 1024 if an endpoint has one, and has no other right of root',
  async () => {
    await using home = await makeProxyHome()
    await using engine = await echoServer()
    const port = await freePortFrom(600)
    await using _ = await home.start({ proxyProgram, proxyLowPorts: true })
    const { pid } = await home.proxyBecomes({ state: 'running' })
    expect(statusOf(pid, RIGHTS).map((each) => Number.parseInt(each, 16))).toEqual(
      RIGHTS.map(() => NET_BIND_SERVICE),
    )
    await home.putEndpoint(port, engine.port)
    expect(await ping(port)).toBe('+PONG\r\n')
    // Without the setting, too: the endpoint got this port earlier.
    await using _other = await restarted(home, _)
    process.kill(pid ?? 0, 'SIGKILL')
    const after = await home.proxyBecomes({ state: 'running', crashes: 1 })
    expect(isProxyUser(userOf(after.pid))).toBe(true)
    expect(await ping(port)).toBe('+PONG\r\n')
  },
)

gives('processes that a compromised proxy leaves behind cannot make the next proxy run as root', async () => {
  await using home = await makeProxyHome()
  await using _ = await home.start({ proxyProgram })
  const { pid } = await home.proxyBecomes({ state: 'running' })
  const uid = userOf(pid)
  // It closes the folder repeatedly: no proxy can start there.
  const script = 'while :; do chmod 500 .; sleep 0.01; done'
  const left = spawn('/bin/sh', ['-c', script], { cwd: home.folder.own, uid, gid: uid, stdio: 'ignore' })
  process.kill(pid ?? 0, 'SIGKILL')
  const words = 'the proxy runs as root'
  const tried = async () => {
    const { proxy } = await home.client.reportNode({})
    // On a busy machine one can start between two closings of the folder: it is the right user, and is ended,
    // too.
    if (proxy.state === 'running' && proxy.pid !== pid) {
      expect(isProxyUser(userOf(proxy.pid))).toBe(true)
      process.kill(proxy.pid ?? 0, 'SIGKILL')
      await until(async () => (await home.client.reportNode({})).proxy.crashes > proxy.crashes)
    }
    return home.logged().includes(words) || proxy.crashes >= 3
  }
  await until(tried).finally(() => left.kill('SIGKILL'))
  const next = await home.proxyBecomes({ state: 'running' })
  expect([isProxyUser(userOf(next.pid)), home.logged()]).toEqual([true, expect.not.stringContaining(words)])
})

function userOf(pid: number | null): number {
  return statSync(`/proc/${pid}`).uid
}

function statusOf(pid: number | null, names: readonly string[]): readonly string[] {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8')
  return names.map((name) => (new RegExp(`^${name}:[\\t ]*(.*)$`, 'm').exec(text)?.[1] ?? 'none').trim())
}

function asUser(uid: number, [program = '', ...args]: readonly string[]): number | null {
  return spawnSync(program, args, { uid, gid: uid, stdio: 'ignore' }).status
}

async function restarted(home: TestHome, agent: AsyncDisposable) {
  await agent[Symbol.asyncDispose]()
  return await home.start({ proxyProgram })
}

interface ProxyHome extends TestHome {
  readonly folder: ReturnType<typeof proxyFolder>
  proxyBecomes(wanted: Partial<ProxyState>): Promise<ProxyState>
  putEndpoint(port: number, upstream: number): Promise<unknown>
}

/** A home whose proxy is ended with it. */
async function makeProxyHome(): Promise<ProxyHome> {
  const home = await makeHome()
  const folder = proxyFolder(home.path)
  const proxy = createClient(proxyOperations, socketTransport(folder.socket))
  return {
    ...home,
    folder,
    async proxyBecomes(wanted) {
      let seen: ProxyState | undefined
      const fits = async () => {
        seen = (await home.client.reportNode({})).proxy
        return Object.entries(wanted).every(([name, value]) => seen?.[name as keyof ProxyState] === value)
      }
      await until(fits, {
        withinMs: 60_000,
        what: () => `${JSON.stringify({ wanted, seen })}\n${home.logged()}`,
      })
      if (!seen) throw new Error('unreachable')
      return seen
    },
    putEndpoint: (port, upstream) =>
      proxy.putEndpoint({
        params: { id: 'bdb-1' },
        body: {
          host: '127.0.0.1',
          port,
          upstream: { host: '127.0.0.1', port: upstream },
          shards: null,
          tls: null,
          upstreamTls: null,
        },
      }),
    async [Symbol.asyncDispose]() {
      for (let left = folder.find(); left !== null; left = folder.find()) {
        signalProcess(left, 'SIGKILL')
        await delay(5)
      }
      await home[Symbol.asyncDispose]()
    },
  }
}

/** Answers each piece that comes as an engine answers PING. */
async function echoServer(): Promise<{ readonly port: number } & AsyncDisposable> {
  const server = createServer(
    (socket) => void socket.on('data', () => socket.write('+PONG\r\n')).on('error', () => socket.destroy()),
  )
  return { port: await listening(server, 0), [Symbol.asyncDispose]: async () => void server.close() }
}

/** The first free one from there on. */
async function freePortFrom(from: number): Promise<number> {
  const server = createServer()
  try {
    return await listening(server, from)
  } catch {
    return await freePortFrom(from + 1)
  } finally {
    server.close()
  }
}

async function listening(server: Server, port: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject).listen(port, '127.0.0.1', () => resolve())
  await promise
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

/** Asks anew until the endpoint is there. */
async function ping(port: number): Promise<string> {
  let answer = ''
  const asked = async () => {
    const { promise, resolve } = Promise.withResolvers<string>()
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'))
    socket.once('data', (bytes) => resolve(bytes.toString())).once('error', () => resolve(''))
    answer = await Promise.race([promise, delay(2_000, '')])
    socket.destroy()
    return answer !== ''
  }
  await until(asked)
  return answer
}
