import { type EngineConnection, numberOf, readInfo } from '@fairlead/engine'
import { backlogBytes } from '../../core/state/backlog-bytes.ts'
import type { Limits } from '../../core/state/engine-memory.ts'
import type { EffectRunner, PassingTime } from '../turn/ports.ts'
import { makeRoom } from './keep-limits.ts'

/** The write rate is measured over this time. */
const SAMPLE_MS = 100

/**
 * Makes the backlog of a primary large enough for a replica that is about to restart: what is written meanwhile must
 * still be in it, or the replica needs a full sync. The size is only raised; the engine's next start begins with the default again. The limit of
 * the engine is raised first, so that the backlog takes no memory from clients.
 */
export async function raiseBacklog(
  primary: EngineConnection,
  limits: Limits,
  ports: EffectRunner & PassingTime,
  signal: AbortSignal,
): Promise<void> {
  const before = readInfo(await primary.info())
  await ports.time.pause(SAMPLE_MS, signal)
  const after = readInfo(await primary.info())
  const written = numberOf(after, 'master_repl_offset') - numberOf(before, 'master_repl_offset')
  const wanted = backlogBytes({
    writtenPerSecond: (written * 1_000) / SAMPLE_MS,
    dataBytes: numberOf(after, 'used_memory'),
  })
  if (wanted <= numberOf(after, 'repl_backlog_size')) return
  await makeRoom(primary, limits, wanted, ports)
  await ports.effect('raise-backlog', () => primary.call('CONFIG', 'SET', 'repl-backlog-size', wanted))
}
