import { chmod, mkdir, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { type EndpointSpec, TURNS_SOCKET } from '@fairlead/api/of-proxies'
import { createMutex, isSameAddress, knowUsersOfPorts, usersOfPortsFile } from '@fairlead/engine'
import { openGenerations } from '../handover/cursor-generations.ts'
import { answerTurns } from '../heartbeat/answer-turns.ts'
import { makeBreadcrumbs } from '../heartbeat/breadcrumb.ts'
import { startHeartbeat } from '../heartbeat/start-heartbeat.ts'
import { type Admission, createAdmission } from '../listen/admission.ts'
import type { Log } from '../listen/cut-log.ts'
import { holdHome } from '../listen/hold-home.ts'
import { openSentinel, type Sentinel } from '../sentinel/sentinel.ts'
import { createHost } from '../workers/endpoint-host.ts'
import { createWorkerHost } from '../workers/worker-host.ts'
import { serveControl } from './control.ts'
import { openFence } from './open-fence.ts'
import { createProxyHandlers } from './proxy-handlers.ts'
import { createSaving } from './save-wanted.ts'
import { createWantedEndpoints, type WantedEndpoints } from './wanted-endpoints.ts'
import { readWanted } from './wanted-file.ts'

const LISTEN_AGAIN_MS = 500
/** An address may come later, perhaps for all endpoints. */
const LISTEN_ALSO_AGAIN_MS = 3_000

interface ProxyOptions {
  readonly home: string
  readonly socketPath: string
  /** Address of the Sentinel answerer; port 0: none. */
  readonly sentinel: { readonly host: string; readonly port: number }
  /** Number of threads that serve endpoints; 1: only this one. */
  readonly workers: number
  readonly onBroken: (why: string) => void
  readonly log: Log
}

/**
 * Serves the endpoints wanted at the last run, and takes orders at `socketPath`. Wanted endpoints are on disk
 * before an order is answered, except for a switch, whose write only the endpoint's next put waits for.
 * Throws if another proxy has this home; `onBroken`: a worker has ended, and the process must end.
 */
export async function createProxy(options: ProxyOptions): Promise<AsyncDisposable> {
  const { home, socketPath, workers, onBroken, log } = options
  await mkdir(home, { recursive: true, mode: 0o700 })
  await chmod(home, 0o700)
  const path = join(home, 'endpoints.json')
  const usersOfPorts = usersOfPortsFile(basename(home) === 'own' ? dirname(resolve(home)) : home)
  await using stack = new AsyncDisposableStack()
  stack.use(knowUsersOfPorts(usersOfPorts))
  stack.use(await holdHome(home, socketPath))

  const breadcrumbs = makeBreadcrumbs(1 + (workers === 1 ? 0 : workers))
  stack.use(answerTurns(breadcrumbs, 0))
  const wanted = new Map<string, EndpointSpec>(Object.entries(await readWanted(path)))
  const admission = createAdmission()
  const generations = stack.use(await openGenerations(join(home, 'cursors.json'), log))
  const runExclusive = createMutex()
  const host = stack.use(
    workers === 1
      ? createHost({ admission, generations }, log)
      : await createWorkerHost({
          count: workers,
          usersOfPorts,
          admission,
          generations,
          log,
          breadcrumbs,
          onBroken,
        }),
  )
  stack.use(startHeartbeat({ breadcrumbs, socketPath: join(dirname(socketPath), TURNS_SOCKET) }, log))
  const endpoints = stack.use(createWantedEndpoints(wanted, host, log))
  const sentinel = await openSentinelOf(endpoints, { ...options.sentinel, admission }, log)
  if (sentinel !== null) stack.use(sentinel)
  const saving = createSaving(path, wanted, runExclusive, log)
  stack.defer(() => runExclusive(async () => undefined))

  for (const id of wanted.keys()) await endpoints.start(id)
  const again = (which: () => Iterable<string>, everyMs: number) => {
    const timer = setInterval(() => {
      for (const id of which()) void runExclusive(() => endpoints.start(id))
    }, everyMs)
    stack.defer(() => clearInterval(timer))
  }
  // The former process may still have a port.
  again(endpoints.failed, LISTEN_AGAIN_MS)
  again(endpoints.incomplete, LISTEN_ALSO_AGAIN_MS)
  const sentinelAt = options.sentinel
  const handlers = createProxyHandlers({ endpoints, saving, runExclusive, sentinel, sentinelAt, log })
  const fence = await openFence(join(home, 'epochs.json'), log)
  stack.use(await serveControl(socketPath, { handlers, fence, log }))
  stack.defer(() => rm(socketPath, { force: true }))
  log('proxy runs', { pid: process.pid, endpoints: wanted.size, workers })
  const running = stack.move()
  return { [Symbol.asyncDispose]: () => running.disposeAsync() }
}

/** Opens the Sentinel answerer for the databases with a name. Null if no port was given. */
async function openSentinelOf(
  { wanted, get }: WantedEndpoints,
  at: { readonly host: string; readonly port: number; readonly admission: Admission },
  log: Log,
): Promise<Sentinel | null> {
  if (at.port === 0) return null
  return openSentinel({
    ...at,
    databases: () =>
      [...wanted].flatMap(([id, { name, formerNames = [], upstream, replicas = [] }]) => {
        const primary = get(id)?.wanted.upstream ?? upstream
        if (name === undefined) return []
        // After a switch the new primary is among the replicas until the next put.
        const others = replicas.filter((each) => !isSameAddress(each, primary))
        return [name, ...formerNames].map((one) => ({ name: one, primary, replicas: others }))
      }),
    onTrouble: (why) => log('sentinel cannot listen', { why }),
  })
}
