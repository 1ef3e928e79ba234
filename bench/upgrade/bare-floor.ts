import { numberOf, readInfo } from '@fairlead/engine'
import { startLoad } from '@fairlead/ledger'
import { until } from '../../proof/until.ts'
import { type BenchEngine, PASSWORD, startBenchEngine } from './start-engines.ts'
import type { Versions } from './start-pair.ts'
import { type DataSize, FILL_WITHIN_MS, VALUE_BYTES, writesOf } from './upgrade-seconds.ts'
import { watchPrimaries } from './watch-primaries.ts'

/**
 * The least that a lossless upgrade of a replicated database can take: what the engines themselves need for
 * it.
 */
export interface BareFloor {
  /** From starting a fresh replica on the new build to its link being up: it holds all data. */
  readonly fullSyncSeconds: number
  /**
   * From then until the stream flows to it. That is not part of a floor, but no handover to it is possible
   * before.
   */
  readonly heldBackSeconds: number
  /** SHUTDOWN SAVE of the old replica, its start on the new build, its data loaded, the stream resumed. */
  readonly restartSeconds: number
}

const WITHIN_MS = 300_000

/**
 * Bare engines of the builds, data written by the same load, and no other process. AOF is off, as in the
 * database.
 */
export async function bareFloor({ from, to }: Versions, { megabytes }: DataSize): Promise<BareFloor> {
  await using opened = new AsyncDisposableStack()
  const primary = opened.use(await startBenchEngine(from, []))
  const follow = [`replicaof ${primary.host} ${primary.port}`, 'repl-diskless-load on-empty-db']
  const replica = opened.use(await startBenchEngine(from, follow))
  await fill(primary, replica, megabytes)
  await linked(replica, primary)

  const began = performance.now()
  const fresh = opened.use(await startBenchEngine(to, follow))
  await linked(fresh, primary)
  const synced = performance.now()
  await flows(fresh, primary)
  const flowing = performance.now()

  const resumedBefore = await counted(primary, 'sync_partial_ok')
  const asked = performance.now()
  await replica.restart(to)
  await linked(replica, primary)
  const restarted = performance.now()
  if ((await counted(primary, 'sync_partial_ok')) === resumedBefore)
    throw new Error(`the restarted replica on ${to} did not resume the stream: this is no floor`)
  await sameSize(primary, [replica, fresh])
  return {
    fullSyncSeconds: (synced - began) / 1000,
    heldBackSeconds: (flowing - synced) / 1000,
    restartSeconds: (restarted - asked) / 1000,
  }
}

async function fill(primary: BenchEngine, replica: BenchEngine, megabytes: number): Promise<void> {
  await using watch = await watchPrimaries([{ slots: '', old: primary, successor: replica }])
  const lookup = { url: watch.url, token: 'none' }
  await using load = await startLoad({
    kind: 'set',
    perSecond: 0,
    valueBytes: VALUE_BYTES,
    password: PASSWORD,
    lookup,
  })
  await load.untilAcked(writesOf(megabytes), { withinMs: FILL_WITHIN_MS })
  await load.stop()
}

/** As the engines report it. */
async function linked(replica: BenchEngine, primary: BenchEngine): Promise<void> {
  const isLinked = async () => {
    const { role, link } = await replica.replication()
    return role === 'replica' && link === 'up'
  }
  await until(`${replica.port} follows ${primary.port}`, isLinked, { withinMs: WITHIN_MS })
}

async function flows(replica: BenchEngine, primary: BenchEngine): Promise<void> {
  await primary.call('WAIT', 1_000, 1) // writes something into the stream
  const { offset } = await primary.replication()
  const hasIt = async () => (await replica.replication()).offset >= offset
  await until(`the stream flows to ${replica.port}`, hasIt, { withinMs: WITHIN_MS })
}

async function counted(engine: BenchEngine, field: string): Promise<number> {
  return numberOf(readInfo(String(await engine.call('INFO', 'stats'))), field)
}

async function sameSize(primary: BenchEngine, replicas: readonly BenchEngine[]): Promise<void> {
  const size = await primary.call('DBSIZE')
  for (const replica of replicas)
    if ((await replica.call('DBSIZE')) !== size)
      throw new Error(`${replica.port} holds other data than its primary: this is no floor`)
}
