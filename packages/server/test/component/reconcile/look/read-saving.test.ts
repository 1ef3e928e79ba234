import { type EngineConnection, readInfo } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { until } from '../../../../../../proof/until.ts'
import { readSaving } from '../../../../src/reconcile/look/read-saving.ts'
import { builds, startTestEngine } from '../../../engine.ts'

/** Half a minute at a millisecond each: progress comes once a second, and a machine may pause. */
const KEYS = 30_000

test.concurrent.each(builds)(
  'the progress of a snapshot that an engine writes is seen: $flavour $version',
  async (build) => {
    await using engine = await startTestEngine(build)
    const { admin } = engine
    const fill = `for n = 1, ${KEYS} do redis.call('SET', 'key:' .. n, n) end`
    await admin.call('EVAL', fill, 0)
    expect(await look(admin)).toMatchObject({ state: 'idle', progress: null })
    // Microseconds for each key: a setting that the engines have for tests like this one.
    await admin.call('CONFIG', 'SET', 'rdb-key-save-delay', 1_000)
    await admin.call('BGSAVE')
    expect((await look(admin)).state).toBe('writing')
    await untilItMoves(admin)
    // Ends the child that writes: it would outlive the engine.
    await admin.call('FLUSHALL')
  },
)

async function look(admin: EngineConnection) {
  return readSaving(readInfo(await admin.info()))
}

async function untilItMoves(admin: EngineConnection): Promise<void> {
  const seen = new Set<number>()
  await until('the engine saves', async () => {
    const { progress } = await look(admin)
    if (progress?.of != null) expect(progress.of).toBe(KEYS)
    if (progress != null) seen.add(progress.done)
    return seen.size > 1
  })
}
