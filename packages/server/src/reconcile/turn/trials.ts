import type { TrialResult } from '@fairlead/api'
import type { Module } from '../../core/modules/module.ts'
import { LEAST_BACKLOG_BYTES } from '../../core/state/backlog-bytes.ts'
import type { Database } from '../../core/state/database.ts'
import { describeRuns, type Runs, revisionOf } from '../../core/state/goal.ts'
import type { Obstacle } from '../../core/state/obstacle.ts'
import { replicationPath } from '../../core/state/replication-paths.ts'
import type { AgentLink } from '../../nodes/agent-link.ts'
import { ensureModules, type ModuleSource } from '../../nodes/ensure-modules.ts'
import type { Tls } from '../../tls/tls-service.ts'
import { modulesFor, nextLimits } from './shard-spec.ts'

/** Tests builds and modules in a separate process before a shard runs them. */
export interface Trials {
  /** Starts what a shard would run, with its modules and their self-tests, and removes it again. */
  tryRuns(database: Database, runs: Runs): Promise<TrialResult>
  /**
   * Returns why shards cannot run this; undefined after a passed trial. Without modules nothing is tried: the
   * surge shard is the proof. `alone`: there will be no surge shard, so the trial also detects a build
   * without TLS.
   */
  whyUnproven(database: Database, runs: Runs, alone?: 'alone'): Promise<Obstacle | undefined>
  /** Returns true if a trial shows that shards which run this can use TLS to each other. */
  provesTls(database: Database, runs: Runs): Promise<boolean>
  /** Resolves when the modules' files are on the node. */
  deliver(runs: Runs, signal?: AbortSignal): Promise<void>
}

/** `agent`: a link with a longer timeout. */
export function createTrials(deps: {
  readonly agent: AgentLink
  readonly files: ModuleSource
  readonly modules: { get(uid: string): Promise<Pick<Module, 'selfTest'> | undefined> }
  readonly tls: Pick<Tls, 'shards'>
}): Trials {
  const { agent, files, modules, tls } = deps
  const passed = new Set<string>()

  const deliver: Trials['deliver'] = async (runs, signal) => {
    const hashes = runs.modules.map(({ sha256 }) => sha256)
    await ensureModules(agent, files, hashes, signal)
  }
  const tryRuns: Trials['tryRuns'] = async (database, runs) => {
    await deliver(runs)
    const certificate = database.shardTls ? await tls.shards(database.uid) : undefined
    const catalogued = await Promise.all(runs.modules.map(({ uid }) => modules.get(uid)))
    return agent.tryBuild({
      body: {
        build: runs.build,
        cluster: database.cluster,
        rdbVersionCheck: replicationPath(database.build, runs.build).relaxed ? 'relaxed' : 'strict',
        ...nextLimits(database, 1 + database.replicas),
        persistence: database.persistence,
        aofFsync: database.aofFsync,
        snapshots: [...database.snapshots],
        backlogBytes: LEAST_BACKLOG_BYTES,
        modules: modulesFor(runs),
        ...(certificate !== undefined && { certificate }),
        selfTest: catalogued.flatMap((module) => module?.selfTest ?? []).map(toStep),
      },
    })
  }
  return {
    deliver,
    tryRuns,
    async provesTls(database, runs) {
      const what = `${database.uid} ${revisionOf(runs)} with TLS`
      if (!passed.has(what) && (await tryRuns({ ...database, shardTls: true }, runs)).ok) passed.add(what)
      return passed.has(what)
    },
    async whyUnproven(database, runs, alone) {
      const what = `${database.uid} ${revisionOf(runs)}`
      const isShown = runs.modules.length === 0 && !(alone === 'alone' && database.shardTls)
      if (isShown || passed.has(what)) return undefined
      const trial = await tryRuns(database, runs)
      if (!trial.ok)
        return { code: 'trial_failed', why: `${describeRuns(runs)} did not pass its trial: ${trial.why}` }
      passed.add(what)
      return undefined
    },
  }
}

/** Without `reply`, any answer that is not an error counts. */
function toStep({ command, reply }: { readonly command: readonly string[]; readonly reply?: unknown }) {
  return { command: [...command], ...(reply !== undefined && { reply }) }
}
