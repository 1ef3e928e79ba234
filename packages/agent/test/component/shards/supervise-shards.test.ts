import { expect, test } from 'vitest'
import { withoutWall } from '../../../src/engine/engine-wall.ts'
import { openModuleFiles } from '../../../src/folder/module-files.ts'
import { openShards } from '../../../src/folder/open-shards.ts'
import { createChangeLog } from '../../../src/shards/changes.ts'
import { createStatisticsLog } from '../../../src/shards/statistics-log.ts'
import { superviseShards } from '../../../src/shards/supervise-shards.ts'
import { makeHome, makeSpec } from '../../agent-home.ts'
import { builds } from '../../engines.ts'

const noProxy = { state: 'exited', pid: null, why: '', crashes: 0 } as const

test('orders for one shard at the same time are done one after the other, and a refusal in between delays none', async () => {
  await using home = await makeHome()
  const settings = {
    builds,
    modules: await openModuleFiles(home.path),
    logger: home.logger,
    stopWithinMs: 60_000,
    wall: withoutWall('nothing is started'),
    silence: { hungAfterMs: 20_000, primaryHungAfterMs: 120_000 },
    changes: createChangeLog(noProxy),
    statistics: createStatisticsLog(),
  }
  // No such build is here: nothing is started.
  const spec = await makeSpec({ build: { flavour: 'redict', version: '1.0.0' } })
  const limits = (memoryBytes: number) => ({ memoryBytes, evictionPolicy: 'allkeys-lru' })
  const shards = await superviseShards(home.path, settings)
  const asked = Array.from({ length: 20 }, (_, n) => [
    shards.put('a-1', { ...spec, revision: `r${n}`, memoryBytes: 1_000 + n }),
    shards.limit('a-1', limits(2_000 + n)),
  ])
  await Promise.all(asked.flat())
  expect(shards.report()).toMatchObject([{ id: 'a-1', ...limits(2_019) }])

  // The orders for a shard that is removed meanwhile: those after its removal find it gone, or are refused.
  const [, , , refused, limited] = await Promise.allSettled([
    shards.put('b-1', spec),
    shards.limit('b-1', limits(3_000)),
    shards.remove('b-1'),
    shards.put('b-1', { ...spec, revision: 'after' }),
    shards.limit('b-1', limits(4_000)),
  ])
  expect(limited?.status).toBe('fulfilled')
  if (refused?.status === 'rejected') expect(refused.reason).toMatchObject({ code: 'unavailable' })
  await shards[Symbol.asyncDispose]()
  const found = await openShards(home.path, home.logger)
  const first = found.find(({ folder }) => folder.id === 'a-1')
  expect(first?.wanted).toMatchObject({ order: 20, gone: false, spec: { revision: 'r19', ...limits(2_019) } })
})
