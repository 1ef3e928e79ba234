import { readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { expect, test } from 'vitest'
import { makeHome, makeSpec, until } from '../../test/agent-home.ts'
import { oomScoreOf } from './oom-score.ts'

const MB = 1024 ** 2
const within = { withinMs: 60_000 }
const scoreOf = (pid: number) => Number(readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8'))
const own = scoreOf(process.pid)

// Where all processes have the most already, as in some containers, there is nothing to tell.
test.runIf(own <= 100)(
  'the kernel is told of each engine what it may use, of one that was adopted and when the limit changes',
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

test('out of memory, engines end first, and of these the one that has most beyond its limit', () => {
  const total = 10_000 * MB
  // As the kernel reckons.
  const points = (used: number, limit: number) => used + (oomScoreOf(limit, total) * total) / 1_000
  const guilty = points(2_000 * MB, 100 * MB)
  expect(guilty).toBeGreaterThan(points(4_200 * MB, 4_000 * MB))
  expect(guilty).toBeGreaterThan(points(50 * MB, 100 * MB))
  // A proxy with 2 GB has no points but these.
  expect(points(0, 0)).toBeGreaterThan(2_000 * MB)
})
