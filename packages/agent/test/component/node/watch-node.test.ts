import { statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import type { NodeMemory } from '../../../src/node/read-node.ts'
import { watchNode } from '../../../src/node/watch-node.ts'
import { connectAs, makeHome, makeSpec, until } from '../../agent-home.ts'

/** A node whose free memory is the number of times that it was read. */
function countReadings() {
  let readings = 0
  const read = async (): Promise<NodeMemory> => {
    readings += 1
    return { cores: 1, memoryTotalBytes: 0, memoryFreeBytes: readings }
  }
  return { read, count: () => readings }
}

test('however often it is asked for, the node is read at fixed intervals only, and the answer is the last reading', async () => {
  const { read, count } = countReadings()
  {
    using rarely = watchNode({ read, everyMs: 3_600_000 })
    for (let asked = 0; asked < 100; asked += 1) {
      expect((await rarely.memory([1])).memoryFreeBytes).toBe(1)
      await delay(1)
    }
  }
  using watch = watchNode({ read, everyMs: 100 })
  const began = performance.now()
  while (count() < 5) {
    const { memoryFreeBytes } = await watch.memory([1])
    expect(count() - memoryFreeBytes).toBeLessThanOrEqual(1)
    await delay(1)
  }
  expect(performance.now() - began).toBeGreaterThan(290)
})

test('after a change of processes the node is read at once', async () => {
  const { read } = countReadings()
  using watch = watchNode({ read, everyMs: 60_000 })
  const free = async (...pids: number[]) => (await watch.memory(pids)).memoryFreeBytes
  expect([await free(1), await free(1), await free(1, 2), await free(1, 2), await free(3, 2)]).toEqual([
    1, 1, 2, 2, 3,
  ])
})

test('questions in bursts, once a second, are one reading for each burst', async () => {
  vi.useFakeTimers()
  try {
    const { read, count } = countReadings()
    using watch = watchNode({ read })
    for (let burst = 1; burst <= 5; burst += 1) {
      for (let asked = 0; asked < 4; asked += 1) await watch.memory([1])
      expect(count()).toBe(burst)
      await vi.advanceTimersByTimeAsync(1_000)
    }
    await vi.advanceTimersByTimeAsync(60_000)
    expect(count()).toBe(5)
  } finally {
    vi.useRealTimers()
  }
})

test('without a caller nothing is read, and the next caller gets a new reading', async () => {
  vi.useFakeTimers()
  try {
    const { read, count } = countReadings()
    using watch = watchNode({ read, everyMs: 20, idleAfterMs: 100 })
    await watch.memory([1])
    await vi.advanceTimersByTimeAsync(50)
    expect(count()).toBe(3)
    await vi.advanceTimersByTimeAsync(200)
    const before = count()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(count()).toBe(before)
    expect((await watch.memory([1])).memoryFreeBytes).toBe(before + 1)
  } finally {
    vi.useRealTimers()
  }
})

test('a node that cannot be read is an error for the caller, until it can be read again', async () => {
  let broken = true
  const { read } = countReadings()
  using watch = watchNode({
    read: () => (broken ? Promise.reject(new Error('no meminfo')) : read()),
    everyMs: 20,
  })
  await expect(watch.memory([1])).rejects.toThrow('no meminfo')
  broken = false
  const heals = () =>
    watch.memory([1]).then(
      () => true,
      () => false,
    )
  await until(heals)
})

test('a disk that has just been filled is never reported as it was before', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  const told = async () => (await home.client.reportShards({ body: { ids: [] } })).diskFreeBytes
  const free = () => Number(statfsSync(home.path).bavail) * statfsSync(home.path).bsize
  await told()
  writeFileSync(join(home.path, 'ballast'), Buffer.alloc(128 * 1024 * 1024))
  // Other tests fill and empty the same disk meanwhile.
  const [before, answer, after] = [free(), await told(), free()]
  expect(answer).toBeLessThan(Math.max(before, after) + 64 * 1024 * 1024)
})

test('the report follows the memory that shards use', async () => {
  await using home = await makeHome()
  await using _ = await home.start({ memoryLimitBytes: 256 * 1024 * 1024 })
  const spec = await makeSpec()
  await home.client.putShard({ params: { id: 'a-1' }, body: spec })
  await home.becomes('a-1', { state: 'running' })
  const free = async () => (await home.client.reportNode({})).memoryFreeBytes
  const before = await free()
  using client = await connectAs('default', spec)
  await client.call('SET', 'key', 'x'.repeat(32 * 1024 * 1024))
  await until(async () => (await free()) < before - 30 * 1024 * 1024)
})
