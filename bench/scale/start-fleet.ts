import { mkdtemp, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { stopAllShards } from '@fairlead/agent'
import { type Action, type Client, createClient, fetchTransport, operations } from '@fairlead/api'
import { pino } from 'pino'
import { claimPorts } from '../../proof/claim-ports.ts'
import { creatingSmallest } from '../../proof/creating-smallest.ts'
import { enginesFolder } from '../../proof/engines-folder.ts'
import { adminPassword, type Part, startPart } from '../../proof/start-fairlead.ts'
import { type FleetStore, openFleetStore, type StoreKind } from './open-fleet-store.ts'
import { putDatabases } from './put-databases.ts'
import { getText } from './serve-socket.ts'
import type { SimulatedShard } from './simulated-node.ts'

/** A server with a simulated agent, and behind that a real agent for the real databases. */
export interface Fleet extends AsyncDisposable {
  readonly server: Part
  readonly store: FleetStore
  readonly url: string
  readonly token: string
  readonly api: Client<typeof operations>
  /** A real database, idle. */
  readonly real: number
  readonly simulated: readonly SimulatedShard[]
  /** The requests to the simulation so far. */
  simulation(): Promise<Simulation>
  untilEnded(actionUid: string | undefined): Promise<Action>
}

/** Of the simulated engines: the tunnels to them, and when the last new engine started (Unix ms). */
interface Simulation {
  readonly commands: number
  readonly engines: number
  readonly tunnels: number
  readonly lastUp: { readonly shard: string; readonly at: number } | null
}

const ENDS_WITHIN_MS = 600_000
/** The history of a database is on record after its first turn. */
const HISTORY_MS = 2_500
const main = join(import.meta.dirname, '../../packages/cli/src/main.ts')

/**
 * Starts a fleet with two real databases, and with this many simulated ones, which are like one of the two.
 * Disposing of the fleet ends and removes all.
 */
export async function startFleet(count: number, kind: StoreKind): Promise<Fleet> {
  await using opened = new AsyncDisposableStack()
  const [home, behind] = [await makeFolder(opened), await makeFolder(opened)]
  const ports = opened.use(await claimPorts())
  opened.defer(async () => {
    await stopAllShards(behind, pino({ level: 'silent' }), AbortSignal.timeout(60_000))
  })
  const env = {
    FAIRLEAD_ADMIN_PASSWORD: adminPassword,
    FAIRLEAD_ENGINES: enginesFolder(),
    FAIRLEAD_PORT_RANGE: `${ports.from}-${ports.to - 1}`,
    FAIRLEAD_HTTP_PORT: String(ports.to),
    FAIRLEAD_HTTPS_PORT: '0',
    FAIRLEAD_LOG_LEVEL: process.env['SCALE_LOG_LEVEL'] ?? 'error',
    FAIRLEAD_SENTINEL_PORT: '0',
  }
  opened.use(await startPart([main, 'agent'], { ...env, FAIRLEAD_HOME: behind }))
  opened.use(await startPart([program('simulation')], { SCALE_HOME: home, SCALE_BEHIND: behind }))
  const store = await openFleetStore(kind, home, opened)
  const flags = process.env['SCALE_NODE_OPTIONS'] ?? ''
  const server = opened.use(
    await startPart([program('server')], { ...env, ...store.env, FAIRLEAD_HOME: home, NODE_OPTIONS: flags }),
  )
  const { api, token } = await signIn(() => server.url())
  const untilEnded = (actionUid: string | undefined) => waitForEnd(api, actionUid)
  const [template, real] = [await create('template', api), await create('real', api)]
  const [shard] = await api.listDatabaseShards({ params: { uid: template } })
  await pause(HISTORY_MS)
  await server.end('SIGTERM')
  const simulated = await putDatabases({ home, place: store.place }, template, count)
  await simulate(join(home, 'run', 'agent.sock'), { template: `s${shard?.uid}`, shards: simulated })
  await server.start()
  const owned = opened.move()
  return {
    server,
    store,
    api,
    token,
    real,
    simulated,
    untilEnded,
    get url() {
      return server.url()
    },
    simulation: async () =>
      JSON.parse(await getText(join(home, 'run', 'agent.sock'), '/simulation')) as Simulation,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

function program(name: string): string {
  return join(import.meta.dirname, `${name}-main.ts`)
}

async function makeFolder(opened: AsyncDisposableStack): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-scale-'))
  opened.defer(() => rm(folder, { recursive: true, force: true }))
  return folder
}

async function signIn(url: () => string): Promise<Pick<Fleet, 'api' | 'token'>> {
  const transport = (sent: Parameters<ReturnType<typeof fetchTransport>>[0]) => fetchTransport(url())(sent)
  const { access_token: token } = await createClient(operations, transport).authorizeUser({
    body: { username: 'admin', password: adminPassword, ttl: 86_400 },
  })
  const api = creatingSmallest(createClient(operations, transport, () => token))
  await api.updateCluster({ body: { unsound_engines_allowed: true } })
  return { api, token }
}

async function create(name: string, api: Fleet['api']): Promise<number> {
  const { uid, action_uid } = await api.createDatabase({ body: { name, memory_size: 0 } })
  await waitForEnd(api, action_uid)
  return uid
}

/** Asks often. How long an action took is read from the server's answer. */
async function waitForEnd(api: Fleet['api'], actionUid: string | undefined): Promise<Action> {
  const deadline = performance.now() + ENDS_WITHIN_MS
  for (;;) {
    const action = await api.getAction({ params: { uid: actionUid ?? '' } })
    if (action.status === 'completed') return action
    if (action.status === 'failed' || performance.now() > deadline)
      throw new Error(`action ${actionUid} has not completed: ${JSON.stringify(action)}`)
    await pause(20)
  }
}

async function simulate(socketPath: string, what: object): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>()
  request({ socketPath, path: '/simulation', method: 'POST' }, (response) => {
    response.resume().once('end', () => resolve(response.statusCode))
  })
    .once('error', reject)
    .end(JSON.stringify(what))
  if ((await promise) !== 200) throw new Error('the simulation did not begin')
}
