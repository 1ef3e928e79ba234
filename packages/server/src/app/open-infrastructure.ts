import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { agentOperations, proxyOperations } from '@fairlead/api'
import { knowUsersOfPorts, lockFile, usersOfPortsFile } from '@fairlead/engine'
import type { Logger } from 'pino'
import type { Config } from '../config/config.ts'
import { agentSocket, proxySocket, stateFolder } from '../config/sockets.ts'
import { softwareVersion } from '../config/version.ts'
import { openEventMarks } from '../fleet/events/event-marks.ts'
import type { HashCost } from '../identity/hashing/hashing.ts'
import { createLeases } from '../leases/leases-service.ts'
import { connectAgent } from '../nodes/agent-link.ts'
import { connectProxy } from '../nodes/proxy-link.ts'
import { createCounters } from '../observe/metrics/counters.ts'
import { exportSpans } from '../observe/traces/export-spans.ts'
import { openStore, type Store, storePlace } from '../store/open-store.ts'
import { StoreAway } from '../store/postgres/postgres-trouble.ts'
import { createSecretBox, readStoreKey } from '../store/secret-box.ts'

/** The store, its key, and the links to agent and proxy. */
export type Infrastructure = Awaited<ReturnType<typeof openInfrastructure>>

/**
 * Creates FAIRLEAD_HOME and opens its store. Registers what to close in `opened`; `now` is Unix milliseconds;
 * `stop` ends a wait for the store.
 */
export async function openInfrastructure(
  config: Config,
  { now, log, stop, hashCost }: Surroundings,
  opened: AsyncDisposableStack,
) {
  const folder = stateFolder(config.home)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (config.store !== undefined) opened.use(takeHome(folder))
  opened.use(knowUsersOfPorts(usersOfPortsFile(join(config.home, 'proxy'))))
  const readBox = () => createSecretBox(config.storeKey ?? readStoreKey(join(folder, 'store.key')))
  const counters = createCounters()
  const open = () => openStore(storePlace(config, folder), readBox, counters.statement)
  const store = opened.use(await openOnceThere(open, log, stop))
  // Before anything is written.
  const eventMarks = await openEventMarks(store)
  const { traces } = config
  const spans = traces && opened.use(exportSpans(traces, { version: softwareVersion, log }))
  return {
    config,
    folder,
    store,
    eventMarks,
    counters,
    spans,
    now,
    log,
    hashCost,
    leases: opened.use(await createLeases({ store, log })),
    box: readBox(),
    agent: connectAgent(agentOperations, agentSocket(config.home)),
    proxy: connectProxy(proxyOperations, proxySocket(config.home)),
  }
}

interface Surroundings {
  readonly now: () => number
  readonly log: Logger
  readonly stop?: AbortSignal
  readonly hashCost?: HashCost
}

const LOOK_AGAIN_MS = 1_000

/** Waits for PostgreSQL, and logs each reason once. Databases keep serving. Throws when `stop` is aborted. */
async function openOnceThere(
  open: () => Promise<Store>,
  log: Pick<Logger, 'warn'>,
  stop: AbortSignal | undefined,
): Promise<Store> {
  for (let said = ''; ; ) {
    try {
      return await open()
    } catch (cause) {
      if (!(cause instanceof StoreAway)) throw cause
      const why = cause.message
      if (why !== said) log.warn({ why }, 'the server waits for its store')
      said = why
    }
    await delay(LOOK_AGAIN_MS, undefined, { signal: stop })
  }
}

/**
 * Locks the home: with an external store, its key, audit files and operator's socket still belong to one
 * server. An embedded store locks its own file.
 */
function takeHome(folder: string): Disposable {
  const lock = lockFile(join(folder, 'server.lock'))
  if (lock === null) throw new Error(`another Fairlead server runs on ${folder}`)
  return lock
}
