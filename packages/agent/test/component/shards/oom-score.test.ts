import { readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { expect, test } from 'vitest'
import { oomScoreOf } from '../../../src/shards/oom-score.ts'
import { makeHome, makeSpec, until } from '../../agent-home.ts'

const MB = 1024 ** 2
const within = { withinMs: 60_000 }
const scoreOf = (pid: number) => Number(readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8'))
const own = scoreOf(process.pid)

// If all processes have the maximum already, as in some containers, there is nothing to set.
test.runIf(own <= 100)(
  'the score of each engine is set by its memory limit, also after an adoption and when the limit changes',
  async () => {
    await using home = await makeHome()
    const memoryBytes = 100 * MB
    const limit = (bytes: number) =>
      home.client.putLimits({
        params: { id: 'a-1' },
        body: { memoryBytes: bytes, evictionPolicy: 'noeviction' },
      })
    let pid = 0
    {
      await using _ = await home.start()
      await home.client.putShard({ params: { id: 'a-1' }, body: await makeSpec({ memoryBytes }) })
      pid = (await home.becomes('a-1', { state: 'running' })).pid ?? 0
      await until(() => scoreOf(pid) >= own + 300, within)
      await limit(totalmem())
      await until(() => scoreOf(pid) === own + 300, within)
    }
    await using _ = await home.start()
    await limit(memoryBytes)
    await until(() => scoreOf(pid) > own + 300, within)
    expect(await home.shard('a-1')).toMatchObject({ pid, crashes: 0 })
  },
)

// invariant: Without memory, the kernel ends the engine furthest above its limit first.
test('without memory, engines are ended first, and of these the one with the most memory beyond its limit', () => {
  const total = 10_000 * MB
  // As the kernel computes it.
  const points = (used: number, limit: number) => used + (oomScoreOf(limit, total) * total) / 1_000
  const guilty = points(2_000 * MB, 100 * MB)
  expect(guilty).toBeGreaterThan(points(4_200 * MB, 4_000 * MB))
  expect(guilty).toBeGreaterThan(points(50 * MB, 100 * MB))
  // A proxy with 2 GB has only these points.
  expect(points(0, 0)).toBeGreaterThan(2_000 * MB)
})
