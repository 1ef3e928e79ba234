import { access, mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type NodeFacts, type NodeReport, type ProxyState, Refusal } from '@fairlead/api'
import type { Logger } from 'pino'
import { type AgentHandlers, serveAgent } from './agent-http.ts'
import { type Backups, openBackups } from './backups/backups.ts'
import type { BuildsOfNode } from './builds/builds-of-node.ts'
import { type Fetches, type FetchPlace, openFetches } from './builds/open-fetches.ts'
import { openEngineWall } from './engine/engine-wall.ts'
import { type ModuleFiles, openModuleFiles } from './folder/module-files.ts'
import { type NodeMemory, readDiskFree, readMemory, readTicks } from './node/read-node.ts'
import { type NodeWatch, watchNode } from './node/watch-node.ts'
import { findFreePort } from './process/find-free-port.ts'
import { holdSocket } from './process/hold-socket.ts'
import { createProxyWall } from './proxy/proxy-wall.ts'
import { superviseProxy } from './proxy/supervise-proxy.ts'
import { shareSockets } from './server/share-sockets.ts'
import { withoutRootOf } from './server/without-root-of.ts'
import { type ChangeLog, createChangeLog } from './shards/changes.ts'
import { createStatisticsLog, type StatisticsLog } from './shards/statistics-log.ts'
import { type SupervisedShards, superviseShards } from './shards/supervise-shards.ts'
import { openTrials, type Trials } from './trials/trials.ts'
import { openFence } from './tunnels/open-fence.ts'
import type { OnEffect } from './tunnels/serve-move.ts'
import { createTunnels, type Tunnels } from './tunnels/tunnels.ts'
import { type LifeWatch, STOOD_STILL_MS, watchLife } from './tunnels/watch-life.ts'

/** Configuration of an agent. Paths are absolute; times are ms. */
export interface AgentConfig {
  /** Shards are in home/shards/<id>. */
  readonly home: string
  /** Path of the Unix socket, at most 107 bytes. Its folder is made (0700) if missing. */
  readonly socketPath: string
  readonly nodeUid: number
  /** Address where free ports are searched for; reported as the address of the node. */
  readonly host: string
  /** Memory for all shards together; null: all memory of the machine. */
  readonly memoryLimitBytes: number | null
  readonly builds: BuildsOfNode
  /** Where builds are fetched to. */
  readonly fetchPlace: FetchPlace
  readonly logger: Logger
  /** An unresponsive process that does nothing for this long is killed if no data are lost. Default 20 s. */
  readonly hungAfterMs?: number
  /** The same if data may be lost, but are on disk, or if the server orders it. Default 2 minutes. */
  readonly primaryHungAfterMs?: number
  /** A stopping process that writes nothing for this long is ended by signals. Default 60 s. */
  readonly stopWithinMs?: number
  /** An agent that has stalled for this long cuts its tunnels to engines. Default 1.5 s. */
  readonly stoodStillMs?: number
  /** Program and arguments of the node's proxy, without its home. Null: this agent starts no proxy. */
  readonly proxyProgram: readonly string[] | null
  /** True if endpoints may have ports that only root can give (below 1024). Default false. */
  readonly proxyLowPorts?: boolean
  /** Version of our software; an adopted proxy's version is compared with it. */
  readonly proxyVersion?: string
  /** False: engines are started without a wall, even if this machine allows one. Default true. */
  readonly engineWall?: boolean
  /** For tests: see serve-move.ts. */
  readonly onEffect?: OnEffect
}

/** A running agent. Dispose to end it: engine processes continue, and the next agent adopts them. */
export interface Agent extends AsyncDisposable {
  readonly socketPath: string
  report(): Promise<NodeReport>
}

/**
 * Starts the agent of a node: supervises all known shards, adopts running processes, and serves the
 * operations of agent-operations.ts. Throws if another agent runs on the socket, or its path is too long.
 */
export async function createAgent(config: AgentConfig): Promise<Agent> {
  await checkMachine()
  await using stack = new AsyncDisposableStack()
  await mkdir(dirname(config.socketPath), { recursive: true, mode: 0o700 })
  stack.use(await holdSocket(config.socketPath))
  const { home, builds, logger, hungAfterMs = 20_000, stopWithinMs = 60_000 } = config
  const modules = await openModuleFiles(home)
  const silence = { hungAfterMs, primaryHungAfterMs: config.primaryHungAfterMs ?? 120_000 }
  const sockets = await shareSockets(home, config.socketPath, logger)
  const wall = withoutRootOf(await openEngineWall(home, config.engineWall ?? true, logger), home)
  const changes = stack.use(createChangeLog(noProxy))
  const statistics = createStatisticsLog()
  const settings = { builds, modules, wall, logger, silence, stopWithinMs, changes, statistics }
  const shards = stack.use(await superviseShards(home, settings))
  const { proxyProgram: program, proxyVersion: version = '' } = config
  const walls = { home, engines: wall, lowPorts: config.proxyLowPorts ?? false, logger }
  const ofProxy = {
    program,
    version,
    wall: createProxyWall(walls),
    hungAfterMs,
    onLook: sockets.keep,
    onSeen: changes.proxy,
  }
  const proxy = program && stack.use(await superviseProxy({ home, logger, ...ofProxy, program }))

  const watch = stack.use(watchNode({ read: (pids) => readMemory(config.memoryLimitBytes, pids) }))
  const resources = () => readResources(home, watch, shards)
  const describe = async (): Promise<NodeFacts> => ({
    uid: config.nodeUid,
    host: config.host,
    ...(await resources()),
    modules: await modules.list(),
    proxy: proxy?.report() ?? noProxy,
    noWall: wall.missing,
  })
  const report = async (): Promise<NodeReport> => {
    const reports = shards.report()
    return { ...(await describe()), shards: reports }
  }
  const trials = stack.use(
    await openTrials({ home, builds, modules, wall, logger, takenPorts: () => shards.ports() }),
  )
  const fetches = stack.use(openFetches(config.fetchPlace, logger))
  const backups = stack.use(
    await openBackups({
      home,
      trials,
      target: shards.target,
      memoryFreeBytes: async () => (await resources()).memoryFreeBytes,
      logger,
    }),
  )
  const tunnels = createTunnels(shards.target, () => life.look())
  const life = stack.use(watchOwnLife(config, tunnels))
  const fence = await openFence(home, logger, tunnels.cutBelow)
  const { onEffect } = config
  const parts = { fence, tunnels, life, logger, onEffect }
  const handlers = answerWith(config, {
    shards,
    modules,
    trials,
    fetches,
    backups,
    report,
    describe,
    life,
    changes,
    statistics,
    resources,
  })
  stack.use(await serveAgent(config.socketPath, parts, handlers))
  await sockets.keep()
  logger.info({ socket: config.socketPath, shards: shards.report().length }, 'agent is up')
  const close = stack.move()
  return { socketPath: config.socketPath, report, [Symbol.asyncDispose]: () => close.disposeAsync() }
}

function watchOwnLife({ logger, stoodStillMs = STOOD_STILL_MS }: AgentConfig, tunnels: Tunnels): LifeWatch {
  const onStall = (ms: number) => {
    logger.warn({ ms: Math.round(ms) }, 'the agent stalled; its tunnels to engines are cut')
    tunnels.cutAll()
  }
  return watchLife(onStall, { afterMs: stoodStillMs })
}

const noProxy: ProxyState = {
  state: 'exited',
  pid: null,
  why: 'this agent was started without a proxy',
  crashes: 0,
}

/** Free resources of the node. */
type NodeResources = NodeMemory & Pick<NodeReport, 'diskFreeBytes'>

/** Reads the disk for each question: a role moves only if the disk is not full, and it may fill quickly. */
async function readResources(
  home: string,
  watch: NodeWatch,
  shards: SupervisedShards,
): Promise<NodeResources> {
  const [memory, diskFreeBytes] = await Promise.all([watch.memory(shards.pids()), readDiskFree(home)])
  return { ...memory, diskFreeBytes }
}

/** Parts of the agent that answer the server. */
interface Answering {
  readonly shards: SupervisedShards
  readonly modules: ModuleFiles
  readonly trials: Trials
  readonly fetches: Fetches
  readonly backups: Backups
  readonly report: () => Promise<NodeReport>
  readonly describe: () => Promise<NodeFacts>
  readonly life: Pick<LifeWatch, 'life'>
  readonly changes: ChangeLog
  readonly statistics: Pick<StatisticsLog, 'since'>
  readonly resources: () => Promise<NodeResources>
}

function answerWith({ builds, host }: AgentConfig, parts: Answering): AgentHandlers {
  const { shards, modules, trials, fetches, backups } = parts
  const { report, describe, life, changes, statistics, resources } = parts
  return {
    reportNode: report,
    describeNode: describe,
    readLife: async () => ({ life: life.life }),
    async reportShards({ body }) {
      const { memoryFreeBytes, diskFreeBytes } = await resources()
      return { memoryFreeBytes, diskFreeBytes, shards: shards.reportSome(body.ids) }
    },
    awaitChanges: ({ body }, signal) => changes.await(body, signal),
    async reportStatistics({ body }) {
      const [{ cores: _, ...free }, ticks] = await Promise.all([resources(), readTicks()])
      return { ...free, ticks, ...statistics.since(body), down: shards.down() }
    },
    async putShard({ params, body }) {
      // The agent logs in there as the administrator, so it accepts no address of another machine.
      if (body.host !== host)
        throw new Refusal('invalid_request', `shards of this node listen on ${host}, not on ${body.host}`)
      return await shards.put(params.id, body)
    },
    async putLimits({ params, body }) {
      await shards.limit(params.id, body)
      return { id: params.id }
    },
    async putSaving({ params, body }) {
      await shards.saveAs(params.id, body)
      return { id: params.id }
    },
    async putPasswords({ params, body }) {
      await shards.admit(params.id, body)
      return { id: params.id }
    },
    async putUsers({ params, body }) {
      await shards.letIn(params.id, body)
      return { id: params.id }
    },
    async putShardCertificate({ params, body }) {
      await shards.certify(params.id, body)
      return { id: params.id }
    },
    async removeShard({ params }) {
      await shards.remove(params.id)
      return { id: params.id }
    },
    endShardProcess: async ({ params, body }) => shards.end(params.id, body.startedAt),
    readBaseline: async ({ params }) => ({ settings: await shards.baseline(params.id) }),
    async findFreePort({ body }) {
      // A shard that is not running keeps its port.
      const except = [...body.except, ...shards.ports()]
      return { port: await findFreePort(host, { ...body, except }) }
    },
    tryBuild: ({ body }, signal) => trials.make(body, signal),
    ...answerAboutModules(modules, shards),
    ...answerAboutBuilds(builds, fetches),
    ...answerAboutBackups(backups),
  }
}

function answerAboutModules(
  modules: ModuleFiles,
  shards: Pick<SupervisedShards, 'modules'>,
): Pick<AgentHandlers, 'putModule' | 'removeModule'> {
  return {
    async putModule({ params: { sha256 }, file }) {
      await modules.put(sha256, file)
      return { sha256 }
    },
    async removeModule({ params: { sha256 } }) {
      if (shards.modules().includes(sha256))
        throw new Refusal('module_in_use', `a shard of this node has the module file ${sha256}`)
      await modules.remove(sha256)
      return { sha256 }
    },
  }
}

function answerAboutBuilds(
  builds: BuildsOfNode,
  fetches: Fetches,
): Pick<AgentHandlers, 'listBuilds' | 'startFetch' | 'listFetches'> {
  return {
    listBuilds: async () => [...(await builds.list())],
    startFetch: async ({ body }) => fetches.start(body),
    listFetches: async () => [...fetches.list()],
  }
}

function answerAboutBackups(
  backups: Backups,
): Pick<AgentHandlers, 'startBackup' | 'reportBackups' | 'removeBackup'> {
  return {
    startBackup: ({ body }) => backups.start(body),
    reportBackups: () => backups.list(),
    async removeBackup({ params }) {
      await backups.remove(params.name)
      return params
    },
  }
}

async function checkMachine(): Promise<void> {
  await access('/proc/self/stat').catch((cause: unknown) => {
    throw new Error('the agent needs /proc, as Linux has it, to tell processes apart', { cause })
  })
}
