import { type EngineConnection, readInfo } from '@fairlead/engine'
import type { PassingTime } from '../turn/ports.ts'
import type { Prepared } from '../turn/preparations.ts'

const LOOK_EVERY_MS = 20

/**
 * Makes an engine rewrite its append-only file from memory, and waits for it. Engines read that file only at
 * their start, so damage would be noticed only after the process with the data has ended. Stops nothing.
 */
export async function rewriteFiles(
  engine: Pick<EngineConnection, 'call' | 'info'>,
  shard: number,
  { time }: PassingTime,
  signal: AbortSignal,
): Promise<Prepared> {
  const look = async () => readInfo(await engine.info('persistence'))
  const isWriting = (fields: Awaited<ReturnType<typeof look>>) =>
    fields['aof_rewrite_in_progress'] === '1' || fields['aof_rewrite_scheduled'] === '1'
  let seen = await look()
  if (!isWriting(seen)) {
    await engine.call('BGREWRITEAOF')
    seen = await look()
  }
  while (isWriting(seen)) {
    await time.pause(LOOK_EVERY_MS, signal)
    seen = await look()
  }
  if (seen['aof_last_bgrewrite_status'] === 'ok') return 'ready'
  const why = `shard ${shard} cannot rewrite its append-only file, and nothing else would hold its data while it restarts`
  return { kind: 'hopeless', code: 'save_failed', why }
}
