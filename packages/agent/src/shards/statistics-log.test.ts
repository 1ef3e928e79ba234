import { expect, test } from 'vitest'
import type { EngineCounters } from '../engine/read-counters.ts'
import { createStatisticsLog } from './statistics-log.ts'

const first: EngineCounters = {
  role: 'primary',
  connections: 3,
  blocked: 0,
  keys: 10,
  expires: 0,
  usedMemory: 1_000_000,
  residentMemory: 9_000_000,
  lagBytes: 0,
  commands: 100,
  bytesIn: 1_000,
  bytesOut: 2_000,
  hits: 5,
  misses: 1,
  expired: 0,
  evicted: 0,
  cpuUser: 1,
  cpuSystem: 1,
}

/** A log that got an entry for shard s1 twenty seconds ago, and that time. */
function logOfOne() {
  let now = 0
  const log = createStatisticsLog(() => now)
  log.shard('s1', 7, first)
  return {
    log,
    told: log.since({ boot: '', after: 0 }),
    look(counters: EngineCounters, startedAt = 7) {
      now += 10_000
      log.shard('s1', startedAt, counters)
    },
  }
}

test('an idle shard is reported once: questions of Fairlead are not work, however long they go on', () => {
  const { log, told, look } = logOfOne()
  expect(told.shards).toMatchObject([{ id: 's1', keys: 10, commands: 0 }])
  for (let n = 1; n <= 1_000; n += 1)
    look({ ...first, commands: 100 + 30 * n, bytesIn: 1_000 * n, usedMemory: 1_000_000 + n })
  expect(log.since({ boot: told.boot, after: told.seq })).toMatchObject({ shards: [], seq: told.seq })
  // Its answers to Fairlead meanwhile do not count when clients ask again.
  look({ ...first, commands: 100 + 30_000 + 500, hits: 55 })
  expect(log.since({ boot: told.boot, after: told.seq }).shards).toMatchObject([{ commands: 50, hits: 5 }])
})

test('work is reported per second, and its end once', () => {
  const { log, told, look } = logOfOne()
  const working = { ...first, commands: 2_100, bytesIn: 21_000, cpuUser: 6 }
  look(working)
  const after = log.since(asked(told))
  expect(after.shards).toMatchObject([{ commands: 200, bytesIn: 2_000, cpuUser: 0.5, cpuSystem: 0 }])
  look({ ...working, commands: 2_110 })
  const ended = log.since(asked(after))
  expect(ended.shards).toMatchObject([{ commands: 0, bytesIn: 0 }])
  look({ ...working, commands: 2_120 })
  expect(log.since(asked(ended)).shards).toEqual([])
})

test('the counters of another process start again', () => {
  const { log, told, look } = logOfOne()
  look({ ...first, commands: 4, hits: 0 }, 8)
  expect(log.since(asked(told)).shards).toMatchObject([{ commands: 0, hits: 0 }])
  look({ ...first, commands: 1_004, hits: 0 }, 8)
  expect(log.since(asked(told)).shards).toMatchObject([{ commands: 100 }])
})

test('memory that grows slowly is reported after a while', () => {
  const { log, told, look } = logOfOne()
  for (let n = 1; n <= 3; n += 1) look({ ...first, usedMemory: 1_000_000 + 4_000 * n })
  expect(log.since(asked(told)).shards).toMatchObject([{ usedMemory: 1_012_000 }])
})

test('a removed shard is reported as gone; a new listener does not get it', () => {
  const { log, told } = logOfOne()
  log.gone('s1')
  log.gone('s1')
  expect(log.since(asked(told))).toMatchObject({ shards: [], gone: ['s1'] })
  expect(log.since({ boot: 'of another agent', after: 99 })).toMatchObject({ shards: [] })
})

function asked({ boot, seq }: { readonly boot: string; readonly seq: number }) {
  return { boot, after: seq }
}
