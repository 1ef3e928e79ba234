import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import type { EndpointSpec } from '@fairlead/api'
import { claimPorts } from '../../../proof/claim-ports.ts'
import { enginesFolder } from '../../../proof/engines-folder.ts'
import { freePortsFrom } from '../../../proof/free-port.ts'
import { soonInSync, spawnEngine } from '../../../proof/spawn-engine.ts'
import { until as untilSo } from '../../../proof/until.ts'
import { usualBuilds } from '../../../proof/usual-builds.ts'
import { type Endpoint, openEndpoint } from '../src/endpoint/endpoint.ts'

/** Server programs, oldest names first: flavour-version. */
export const everyBuild = (await readdir(enginesFolder()))
  .filter((name) => /^(valkey|redis)-[\d.]+$/.test(name))
  .toSorted()
/** Server programs that this run tries. */
export const builds = usualBuilds(everyBuild)
const [first = '', last = ''] = [builds.at(0), builds.at(-1)]
/** From an old redis to a new valkey, if both are here. */
export const [oldest, newest] = [first, last]

export interface Engine extends AsyncDisposable {
  readonly port: number
  readonly process: ChildProcess
  /** Sends an inline command on a connection of its own, and returns the answer. */
  admin(line: string): Promise<string>
}

export function programOf(build: string, what: 'server' | 'cli'): string {
  return join(enginesFolder(), build, 'bin', `${build.split('-')[0]}-${what}`)
}

/**
 * Starts `build` without a password, and resolves when it answers anything: tests of the proxy see its bytes
 * as they are, without the product's own connection. If another test takes its port before, another port is
 * tried.
 */
export async function startEngine(build: string, ...args: readonly string[]): Promise<Engine> {
  for (let attempt = 1; ; attempt += 1) {
    const engine = await runEngine(build, args)
    const isUp = () =>
      engine.admin('PING').then(
        (text) => text.length > 0,
        () => false,
      )
    const hasEnded = () => engine.process.exitCode !== null
    await until(async () => hasEnded() || (await isUp()))
    if (!hasEnded()) return engine
    await engine[Symbol.asyncDispose]()
    if (attempt === 3) throw new Error(`${build} ends at its start: ${args.join(' ')}`)
  }
}

async function runEngine(build: string, args: readonly string[]): Promise<Engine> {
  const port = await freePort()
  const lines = [`port ${port}`, 'bind 127.0.0.1', 'save ""', ...soonInSync]
  const started = await spawnEngine(build, { lines, args })
  const engine: Engine = {
    port,
    process: started.child,
    async admin(line) {
      await using client = await dial(port)
      client.send(`${line}\r\n`)
      await until(() => client.text().endsWith('\r\n'))
      return client.text()
    },
    [Symbol.asyncDispose]: () => started[Symbol.asyncDispose](),
  }
  return engine
}

export interface Pair extends AsyncDisposable {
  readonly a: Engine
  readonly b: Engine
  readonly endpoint: Endpoint
  readonly port: number
  /** Moves the role to the other engine, as the server does: hold, pause, equal, demote, promote, switch. */
  handOver(): Promise<void>
  /** The same without the endpoint: demote, promote. */
  moveRole(): Promise<void>
  primary(): Engine
  successor(): Engine
}

/** A primary with its replica, and an endpoint in front of them. */
export async function makePair(
  from = oldest,
  to = newest,
  wanted: Partial<EndpointSpec> = {},
): Promise<Pair> {
  await using stack = new AsyncDisposableStack()
  const a = stack.use(await startEngine(from))
  const b = stack.use(await startEngine(to))
  await b.admin(`REPLICAOF 127.0.0.1 ${a.port}`)
  await until(async () => (await b.admin('INFO replication')).includes('master_link_status:up'))
  const port = await freePort()
  const endpoint = stack.use(await openEndpoint({ ...makeEndpointSpec(port, a.port), ...wanted }))
  let [primary, successor] = [a, b]
  const moveRole = async () => {
    await primary.admin('CLIENT PAUSE 60000 WRITE')
    const offset = async (engine: Engine) =>
      /master_repl_offset:(\d+)/.exec(await engine.admin('INFO replication'))?.[1]
    await until(async () => (await offset(primary)) === (await offset(successor)))
    await primary.admin(`REPLICAOF 127.0.0.1 ${successor.port}`)
    await successor.admin('REPLICAOF NO ONE')
    await primary.admin('CLIENT UNPAUSE')
    ;[primary, successor] = [successor, primary]
  }
  const owned = stack.move()
  return {
    a,
    b,
    endpoint,
    port,
    moveRole,
    primary: () => primary,
    successor: () => successor,
    async handOver() {
      await until(async () => (await successor.admin('INFO replication')).includes('master_link_status:up'))
      const held = await endpoint.hold({ deadlineMs: 60_000 })
      if (!held.drained) throw new Error(held.why)
      await moveRole()
      await endpoint.switchTo({ host: '127.0.0.1', port: primary.port })
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

export function makeEndpointSpec(port: number, upstreamPort: number): EndpointSpec {
  const upstream = { host: '127.0.0.1', port: upstreamPort }
  return { host: '127.0.0.1', port, upstream, shards: null, tls: null, upstreamTls: null }
}

export interface RawClient extends AsyncDisposable {
  readonly socket: Socket
  /** Its own address and port, also when it is closed. */
  readonly address: string
  send(bytes: string | Uint8Array): void
  /** All received bytes that `gets` has not taken yet. */
  text(): string
  /** Waits for exactly these bytes, and takes them. */
  gets(text: string): Promise<void>
  /** Sends, then waits for exactly this. Lines of both are separated by CRLF here. */
  ask(line: string, answer: string): Promise<void>
  readonly ended: () => boolean
}

/** A client that sees bytes as they are. */
export async function dial(port: number): Promise<RawClient> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true })
  await once(socket, 'connect')
  return rawClient(socket)
}

export function rawClient(socket: Socket): RawClient {
  let text = ''
  let ended = false
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
  })
  socket.on('close', () => {
    ended = true
  })
  socket.on('error', () => undefined)
  const client: RawClient = {
    socket,
    address: `${socket.localAddress}:${socket.localPort}`,
    send: (bytes) => void socket.write(bytes),
    text: () => text,
    ended: () => ended,
    async gets(wanted) {
      await until(
        () => text.length >= wanted.length || ended,
        () => `wanted ${JSON.stringify(wanted)}, got ${JSON.stringify(text.slice(0, 300))}`,
      )
      if (!text.startsWith(wanted))
        throw new Error(`wanted ${JSON.stringify(wanted)}, got ${JSON.stringify(text.slice(0, 300))}`)
      text = text.slice(wanted.length)
    },
    async ask(line, answer) {
      client.send(`${line}\r\n`)
      await client.gets(answer)
    },
    async [Symbol.asyncDispose]() {
      socket.destroy()
    },
  }
  return client
}

/** `until` of proof for a condition, looked at every 2 ms: a handover takes some milliseconds. */
export async function until(
  check: () => boolean | Promise<boolean>,
  what: () => string = () => '',
  withinMs = 60_000,
): Promise<void> {
  await untilSo(what, check, { withinMs, everyMs: 2 })
}

let ports: Promise<() => Promise<number>> | undefined

/**
 * A port on which nothing listens, and which no other process of this machine takes: a proxy that starts
 * again finds it free. The kernel's own choice would be one of those that outgoing connections get, too.
 */
export async function freePort(): Promise<number> {
  // They are this process's until it ends.
  ports ??= claimPorts().then(({ from, to }) => freePortsFrom(from, to))
  return (await ports)()
}
