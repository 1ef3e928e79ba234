import { agentOperations } from '@fairlead/api'
import { createEffect, createMutex } from '@fairlead/engine'
import { createReach } from '../config/read-reach.ts'
import { agentSocket, proxySocket } from '../config/sockets.ts'
import { softwareVersion } from '../config/version.ts'
import { createDatabases, type Databases } from '../fleet/databases/databases-service.ts'
import { openModuleFiles } from '../fleet/modules/module-files.ts'
import { createModules } from '../fleet/modules/modules-service.ts'
import { databaseOrdersStore } from '../fleet/stores/database-orders-store.ts'
import { databasesStore } from '../fleet/stores/databases-store.ts'
import { modulesStore } from '../fleet/stores/modules-store.ts'
import { connectAgent, HEARING_WITHIN_MS, TRIAL_WITHIN_MS } from '../nodes/agent-link.ts'
import { createNodes } from '../nodes/nodes-service.ts'
import { createMetrics } from '../observe/metrics/metrics-service.ts'
import { watchProcess } from '../observe/metrics/watch-process.ts'
import { createStatistics } from '../observe/statistics/statistics-service.ts'
import { createObserver } from '../reconcile/look/observer.ts'
import { createReconciler, type Reconciler } from '../reconcile/loop/create-reconciler.ts'
import { storedRecords } from '../reconcile/records/stored-records.ts'
import { createReaches } from '../reconcile/turn/reach.ts'
import { createTrials } from '../reconcile/turn/trials.ts'
import { createTls } from '../tls/tls-service.ts'
import type { Identity } from './assemble-identity.ts'
import type { Infrastructure } from './open-infrastructure.ts'
import { hostsOfApi } from './serve-https.ts'

/** The reconciler, nodes, modules, databases and certificates. */
export type Reconciling = Awaited<ReturnType<typeof assembleReconciling>>

/** Starts the reconciler. Registers what to close in `opened`; `onEffect` runs around each effect. */
export async function assembleReconciling(
  ground: Infrastructure,
  { cluster }: Pick<Identity, 'cluster'>,
  onEffect: ((phase: 'before' | 'after', name: string) => void) | undefined,
  opened: AsyncDisposableStack,
) {
  const { config, folder, store, leases, counters, now, log } = ground
  const { shardTls, portRange, askedPorts } = config
  const reach = createReach(config, now)
  const tls = createTls({ ...ground, apiHosts: hostsOfApi(config), reach })
  const moduleFiles = await openModuleFiles(folder)
  const trials = createTrials({
    agent: connectAgent(agentOperations, agentSocket(config.home), { withinMs: TRIAL_WITHIN_MS }),
    files: moduleFiles,
    modules: modulesStore(store.db),
    tls,
  })
  const runExclusive = createMutex()
  const sockets = { agentSocket: agentSocket(config.home), proxySocket: proxySocket(config.home) }
  const reaches = opened.use(createReaches(sockets))
  const deps = {
    ...storedRecords(store),
    leases,
    recordsUnder: (uid: number, epoch: number) => storedRecords(store, leases.fence(uid, epoch)),
    orders: databaseOrdersStore(store.db),
    hearing: connectAgent(agentOperations, agentSocket(config.home), { withinMs: HEARING_WITHIN_MS }),
    counters,
    recordSpan: ground.spans?.record,
    reaches,
    reachUnder: reaches.under,
    trials,
    tls,
    shardTls,
    portRange,
    endpointAddresses: config.endpointAddresses,
    runExclusive,
    now,
    log,
    effect: createEffect((phase, name) => {
      log.debug({ phase, name }, 'effect')
      onEffect?.(phase, name)
    }),
  }
  const reconciler = opened.use(await createReconciler(deps))
  const { nudge, nudgeAll } = reconciler

  const nodes = createNodes(ground.agent, cluster.settings)
  const modules = await createModules({
    store,
    now,
    settings: cluster.settings,
    files: moduleFiles,
    onFileGone: (sha256) => nodes.dropModule(sha256),
  })
  const databases = createDatabases({
    store,
    nodes,
    modules,
    now,
    nudge,
    runExclusive,
    portRange,
    askedPorts,
    shardTls,
    reach,
  })
  return {
    ...(await measure(ground, databases, reconciler, opened)),
    tls,
    reach,
    trials,
    nudge,
    nudgeAll,
    nodes,
    modules,
    databases,
    observer: createObserver({ ...deps, leases }),
  }
}

/** Starts statistics and metrics. */
async function measure(
  ground: Infrastructure,
  { placesOf }: Pick<Databases, 'placesOf'>,
  { load }: Pick<Reconciler, 'load'>,
  opened: AsyncDisposableStack,
) {
  const { config, store, counters, now } = ground
  const { promisedBytes } = databasesStore(store.db)
  const statistics = opened.use(createStatistics({ ...ground, placesOf, promisedBytes }))
  const process = opened.use(watchProcess())
  return {
    statistics,
    metrics: createMetrics({
      version: softwareVersion,
      store,
      counters,
      statistics,
      process,
      load,
      now,
      mostDatabases: config.metricsDatabases,
    }),
  }
}
