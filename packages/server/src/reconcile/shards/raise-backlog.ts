import { type EffectRunner, type EngineConnection, numberOf, readInfo } from '@fairlead/engine'
import { backlogBytes } from '../../core/state/backlog-bytes.ts'
import type { Limits } from '../../core/state/engine-memory.ts'
import type { PassingTime } from '../turn/ports.ts'
import { makeRoom } from './keep-limits.ts'

/** Sampling time of the write rate. */
const SAMPLE_MS = 100

/**
 * Enlarges a primary's backlog for a replica that restarts, which needs a full sync if later writes are no
 * longer in it. Raises the engine's limit first, so that clients lose no memory. The engine's next start uses
 * the default again.
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
