import { join } from 'node:path'
import type { Logger } from 'pino'
import { engineTarget } from './engine/engine-config.ts'
import { stopProcess } from './engine/stop-process.ts'
import { type FoundShard, isRunning, openShards } from './folder/open-shards.ts'
import { recordStop } from './folder/record-stop.ts'
import { holdSocket } from './process/hold-socket.ts'
import { stopProxy } from './proxy/stop-proxy.ts'
import { hasStoppedCleanly } from './shards/carry-out.ts'
import { clearTrials } from './trials/trial-folder.ts'

export interface StoppedShards {
  /** Ids of the shards whose process ran and was stopped, sorted. */
  readonly stopped: readonly string[]
  /** Shards that continue because they could not save their data, with reasons. */
  readonly refused: readonly { readonly id: string; readonly why: string }[]
  /** True if the proxy ran and was stopped. It continues while one of the shards does. */
  readonly proxyStopped: boolean
}

/**
 * Stops every engine process of `home` after saving its data, primaries first, then the proxy, while no agent
 * runs. The wanted state is unchanged: the next agent restarts those with `onCrash: restart`, and reports the
 * others as exited until they are put. Throws "another agent runs on …", and when aborted; the next agent
 * adopts what then still runs.
 */
export async function stopAllShards(
  home: string,
  logger: Logger,
  signal: AbortSignal,
  socketPath: string = join(home, 'run', 'agent.sock'),
): Promise<StoppedShards> {
  await using _ = await holdSocket(socketPath)
  await clearTrials(home, logger)
  const shards = await openShards(home, logger)
  const running = shards.filter(isRunning)
  const stop = (some: readonly FoundShard[]) =>
    Promise.all(some.map((shard) => stopShard(shard, logger, signal)))
  // A primary sends its last writes to its replicas before it ends; without its replica it would wait 10 s.
  const [primaries = [], replicas = []] = [true, false].map((first) =>
    running.filter((shard) => isPrimary(shard) === first),
  )
  const results = [...(await stop(primaries)), ...(await stop(replicas))].toSorted((a, b) =>
    a.id.localeCompare(b.id),
  )
  const refused = results.flatMap(({ id, why }) => (why === null ? [] : [{ id, why }]))
  return {
    stopped: results.filter(({ why }) => why === null).map(({ id }) => id),
    refused,
    proxyStopped: refused.length === 0 && (await stopProxy(home, logger, signal)),
  }
}

/** Uses the spec: a role that changed at run time is soon put. */
function isPrimary({ wanted }: Pick<FoundShard, 'wanted'>): boolean {
  return wanted.spec.replicaOf === null
}

async function stopShard({ folder, wanted, last }: FoundShard, logger: Logger, signal: AbortSignal) {
  const { id } = folder
  if (!last?.identity) return { id, why: null }
  const record = await recordStop(folder, last, last.identity, folder.writeProcess)
  const result = await stopProcess({
    identity: last.identity,
    target: engineTarget(last.spec),
    save: !wanted.gone,
    data: folder.data,
    stopWithinMs: 60_000,
    hungAfterMs: 10_000,
    // A replica is stopped after its primary, which has saved its data.
    mayForce: wanted.gone || !isPrimary({ wanted }),
    signal,
  })
  if (result.kind === 'refused') {
    await folder.writeProcess(last)
    logger.error({ shard: id, why: result.why }, 'shard process refuses to stop')
    return { id, why: result.why }
  }
  const how = (await hasStoppedCleanly(folder, record)) ? 'stopped' : 'died'
  const why = how === 'stopped' ? 'was stopped with all others' : (result.forced ?? 'ended without saving')
  // For a shard that waits for the server, an unfinished restart is over.
  const order = wanted.spec.onCrash === 'wait' ? wanted.order : record.order
  await folder.writeProcess({ ...record, order, ended: { at: Date.now(), how, why } })
  logger.info({ shard: id, how, why }, 'shard process is stopped')
  return { id, why: null }
}
