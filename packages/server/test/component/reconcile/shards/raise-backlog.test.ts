import { numberOf, readInfo } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { engineLimit } from '../../../../src/core/state/engine-memory.ts'
import { setLimits } from '../../../../src/reconcile/shards/keep-limits.ts'
import { raiseBacklog } from '../../../../src/reconcile/shards/raise-backlog.ts'
import { realTime } from '../../../../src/reconcile/turn/time.ts'
import { builds, startTestEngine } from '../../../engine.ts'

const MiB = 1024 * 1024
const limits = { shareBytes: 10 * MiB, evictionPolicy: 'noeviction' }

test.each(builds)(
  'the limit of an engine rises before its backlog does: $flavour $version',
  async (build) => {
    await using engine = await startTestEngine(build, ['repl-backlog-size 1mb', 'maxmemory 10mb'])
    const told: string[] = []
    const effect = async <T>(name: string, carryOut: () => Promise<T>) => {
      told.push(name)
      return carryOut()
    }
    await raiseBacklog(engine.admin, limits, { effect, time: realTime }, new AbortController().signal)
    expect(told).toEqual(['set-limit', 'raise-backlog'])
    const fields = readInfo(await engine.admin.info())
    expect(numberOf(fields, 'repl_backlog_size')).toBe(64 * MiB)
    expect(numberOf(fields, 'maxmemory')).toBe(engineLimit(10 * MiB, 64 * MiB))

    // All settings are as wanted: no engine gets a command any more.
    await raiseBacklog(engine.admin, limits, { effect, time: realTime }, new AbortController().signal)
    const log = { warn: () => undefined } as never
    await setLimits(engine.admin, limits, { effect, log, time: realTime })
    expect(told.length).toBe(2)
  },
)
