import { mkdtemp, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import type { EndpointReport, EndpointShard } from '@fairlead/api'
import { askForTurns, type Turns, watchTurns } from '../../../../proof/floods/ask-for-turns.ts'
import { proxyFlags, runProxy } from '../run-proxy.ts'
import { type Engine, freePort, makeEndpointSpec, newest, startEngine, until } from '../stage.ts'
import { certificateOf } from '../tls-stage.ts'

/** One proxy in front of several databases: some for hostile clients, and one for a neighbour. */
export interface HostileStage extends AsyncDisposable {
  readonly targets: readonly Target[]
  /** The port of the neighbour's database. */
  readonly port: number
  readonly pid: number
  /** The pids of the engines of the other databases. */
  readonly enginePids: readonly number[]
  /** Throws when the proxy does not answer. */
  reports(): Promise<{
    readonly pid: number
    readonly rssBytes: number
    readonly endpoints: readonly EndpointReport[]
  }>
  log(): string
  /** Of the proxy's loop, since it was asked last. */
  turns(): Promise<Turns>
}

export interface Target {
  readonly name: string
  /** Whether it takes logins. */
  readonly hasLogin: boolean
  readonly port: number
  /** The authority to trust, where it speaks TLS. */
  readonly ca: string | null
  open(): Socket
}

/** The password of the user that clients sign in as. */
export const PASSWORD = 'right-password'

/** What the agent gives the user of a database. */
const giveRights = `ACL SETUSER default on >${PASSWORD} ~* &* +@all -@admin`

/** The proxy is started with `nodeFlags`, by default those of the product. */
export async function makeHostileStage(nodeFlags: readonly string[] = proxyFlags): Promise<HostileStage> {
  await using stack = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'hostile-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const pem = certificateOf(folder, 'localhost')
  const flags = [...nodeFlags, `--import=${watchTurns}`]
  const proxy = stack.use(
    await runProxy({ sentinelPort: await freePort(), nodeFlags: flags, env: { TURNS_FOLDER: folder } }),
  )
  const start = async (...args: readonly string[]) => stack.use(await startEngine(newest, ...args))
  const [own, plain] = await Promise.all([start(), start()])
  const inCluster = ['--cluster-enabled', 'yes', '--cluster-require-full-coverage', 'no']
  const groups = await Promise.all([0, 1, 2].map(() => start(...inCluster)))
  const shards = await Promise.all(groups.map(holdSlots))
  for (const engine of [own, plain, ...groups]) await engine.admin(giveRights)
  const put = async (id: string, body: ReturnType<typeof makeEndpointSpec>) => {
    await proxy.client.putEndpoint({ params: { id }, body })
    return body.port
  }
  const port = await put('own', makeEndpointSpec(await freePort(), own.port))
  const plainPort = await put('plain', { ...makeEndpointSpec(await freePort(), plain.port), name: 'plain' })
  const tlsPort = await put('tls', { ...makeEndpointSpec(await freePort(), plain.port), tls: pem })
  const shardedPort = await put('sharded', {
    ...makeEndpointSpec(await freePort(), groups[0]?.port ?? 0),
    shards,
  })
  const { pid, sentinel } = await proxy.client.reportProxy({})
  const plainly = (name: string, to: number, hasLogin = true): Target => ({
    name,
    hasLogin,
    port: to,
    ca: null,
    open: () => connect({ host: '127.0.0.1', port: to, noDelay: true }),
  })
  const owned = stack.move()
  return {
    targets: [
      plainly('plain', plainPort),
      plainly('sharded', shardedPort),
      plainly('sentinel', sentinel.port, false),
      {
        name: 'tls',
        hasLogin: true,
        port: tlsPort,
        ca: pem.cert,
        open: () =>
          connectTls({ host: '127.0.0.1', port: tlsPort, ca: pem.cert, servername: 'localhost' }).setNoDelay(
            true,
          ),
      },
    ],
    port,
    pid,
    enginePids: [plain, ...groups].flatMap(({ process: { pid: engine } }) => engine ?? []),
    reports: () => proxy.client.reportProxy({}),
    log: proxy.log,
    turns: () => askForTurns(folder),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/**
 * Three engines that do not know each other, each with a third of the slots, so the start waits for no bus.
 */
async function holdSlots(engine: Engine, n: number): Promise<EndpointShard> {
  const [first = 0, last = 0] =
    [
      [0, 5_460],
      [5_461, 10_922],
      [10_923, 16_383],
    ][n] ?? []
  await engine.admin(`CLUSTER ADDSLOTSRANGE ${first} ${last}`)
  await until(async () => (await engine.admin('CLUSTER INFO')).includes('cluster_state:ok'), undefined)
  return { first, last, upstream: { host: '127.0.0.1', port: engine.port } }
}
