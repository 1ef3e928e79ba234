import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { createServer } from 'node:http'
import { enginesFolder } from '../../proof/engines-folder.ts'
import { freePortsFrom } from '../../proof/free-port.ts'
import { spawnEngine } from '../../proof/spawn-engine.ts'
import { until as untilSo } from '../../proof/until.ts'
import { openEngineLink } from './engine-link.ts'
import type { Address } from './layout.ts'
import { type Reply, writeCommand } from './resp-lite.ts'

/** A real engine of this test's own, with its own directory. */
export interface TestEngine extends AsyncDisposable {
  readonly address: Address
  readonly process: ChildProcess
  /** One command over a connection of its own. Throws on an error answer. */
  call(...words: readonly string[]): Promise<string>
  offset(): Promise<number>
}

export const PASSWORD = 'of-the-ledger-tests'
const freePort = freePortsFrom(21_500, 21_599)

/** The valkey builds of this machine, oldest first. Throws when there is none. */
export async function valkeyBuilds(): Promise<readonly string[]> {
  const names = await readdir(enginesFolder())
  const builds = names.filter((name) => name.startsWith('valkey-'))
  if (builds.length === 0) throw new Error(`no valkey build in ${enginesFolder()}: run npm run demo once`)
  builds.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
  return builds
}

/**
 * Starts `build` with the password of these tests. Commands go over the ledger's own connections, because the
 * ledger uses no package of the product.
 */
export async function startTestEngine(build: string, ...settings: readonly string[]): Promise<TestEngine> {
  const address = { host: '127.0.0.1', port: await freePort() }
  const own = [`port ${address.port}`, `bind ${address.host}`, 'save ""']
  const login = [`requirepass ${PASSWORD}`, `masterauth ${PASSWORD}`]
  const engine = await spawnEngine(build, { lines: [...own, ...login], args: settings })
  const call = async (...command: readonly string[]) => textOf(await callOnce(address, command))
  await until(async () => (await call('PING').catch(() => '')) === 'PONG')
  return {
    address,
    process: engine.child,
    call,
    async offset() {
      const fields = await call('INFO', 'replication')
      return Number(/(?:slave_repl_offset|master_repl_offset):(\d+)/.exec(fields)?.[1] ?? -1)
    },
    [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose](),
  }
}

/** Stands in for the API: names the primary, and counts how often it was asked. */
export interface NamingServer extends AsyncDisposable {
  readonly url: string
  primary: Address
  status: number
  readonly asked: () => number
}

export async function startNamingServer(primary: Address): Promise<NamingServer> {
  let asked = 0
  const server = createServer((request, response) => {
    asked += 1
    const known = request.headers.authorization === 'Bearer good'
    response.statusCode = known ? naming.status : 401
    response.end(JSON.stringify({ endpoints: [{ addr: [naming.primary.host], port: naming.primary.port }] }))
  })
  const port = await freePort()
  const naming: NamingServer = {
    url: `http://127.0.0.1:${port}/v1/bdbs/1`,
    primary,
    status: 200,
    asked: () => asked,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return naming
}

/** `until` of proof for a condition, looked at every 2 ms; a failure shows the condition. */
export async function until(
  check: () => Promise<boolean> | boolean,
  { withinMs = 60_000 }: { readonly withinMs?: number } = {},
): Promise<void> {
  await untilSo(() => String(check), check, { withinMs, everyMs: 2 })
}

function callOnce(address: Address, command: readonly string[]): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>()
  const link = openEngineLink({
    address,
    password: PASSWORD,
    bufferBytes: 65_536,
    onReady: () => link.send(writeCommand(...command)),
    onReply(reply) {
      resolve(reply)
      link.end('done')
    },
    onEnd: (why) => reject(new Error(`${command[0]}: ${why}`)),
  })
  return promise
}

function textOf(reply: Reply): string {
  if (reply.kind === 'error') throw new Error(reply.text)
  if (reply.kind === 'integer') return String(reply.value)
  return reply.kind === 'array' ? JSON.stringify(reply.items) : (reply.text ?? '')
}
