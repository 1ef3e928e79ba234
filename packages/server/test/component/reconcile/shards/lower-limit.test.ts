import { numberOf, readInfo } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { until } from '../../../../../../proof/until.ts'
import { engineLimit } from '../../../../src/core/state/engine-memory.ts'
import { setLimits } from '../../../../src/reconcile/shards/keep-limits.ts'
import { realTime } from '../../../../src/reconcile/turn/time.ts'
import { builds, startTestEngine } from '../../../engine.ts'

const MiB = 1024 * 1024

test.each(builds)(
  'an engine that has to evict for its new limit gets it in small steps: $flavour $version',
  async (build) => {
    await using engine = await startTestEngine(build, ['repl-backlog-size 1mb'])
    const { admin } = engine
    for (let n = 0; n < 12_000; n += 1) await admin.call('SET', `key:${n}`, 'x'.repeat(1_000))
    const read = async () => readInfo(await admin.info())
    const used = numberOf(await read(), 'used_memory')
    const limits = { shareBytes: Math.floor(used * 0.6), evictionPolicy: 'allkeys-lru' }
    const wanted = engineLimit(limits.shareBytes, MiB)
    expect(wanted).toBeLessThan(used - 2 * MiB)
    const seen = [used]
    const effect = async <T>(_: string, carryOut: () => Promise<T>) => carryOut()
    const log = { warn: () => undefined } as never
    await until('it has its limit', async () => {
      await setLimits(admin, limits, { effect, log, time: realTime })
      seen.push(numberOf(await read(), 'maxmemory'))
      return seen.at(-1) === wanted
    })
    const steps = seen.slice(1).map((limit, n) => (seen[n] ?? 0) - limit)
    expect(Math.max(...steps)).toBeLessThan(MiB)
    await until('it has evicted', async () => numberOf(await read(), 'used_memory') < wanted + MiB)
  },
)
