import { setTimeout as pause } from 'node:timers/promises'
import { digestOfMarks } from '@fairlead/api'
import { expect, test } from 'vitest'
import { createChangeLog } from '../../../src/shards/changes.ts'

const noProxy = { state: 'exited', pid: null, why: '', crashes: 0 } as const
const stream = { id: 's1', runId: 'r', replid: 'h', offset: 70 }

test('a report has the changes after the number, and a digest of everything', async () => {
  using log = createChangeLog(noProxy)
  log.shard('s1', 'up')
  log.shard('s2', 'up')
  const all = await log.await({ boot: '', after: 0, waitMs: 0 })
  expect(all).toMatchObject({ all: true, gone: [], shards: [{ id: 's1' }, { id: 's2' }] })

  const waits = log.await({ boot: all.boot, after: all.seq, waitMs: 10_000 })
  log.shard('s1', 'up')
  log.shard('s2', 'down')
  log.gone('s1')
  const next = await waits
  expect(next).toMatchObject({ all: false, gone: ['s1'], shards: [{ id: 's2' }] })
  expect(next.digest).toBe(digestOfMarks(next.shards.map(({ mark }) => mark)))
  expect(await log.await({ boot: next.boot, after: next.seq, waitMs: 1 })).toMatchObject({
    shards: [],
    gone: [],
  })
})

test('a listener that names another agent, or has missed too many removals, gets everything', async () => {
  using log = createChangeLog(noProxy)
  log.shard('s1', 'up')
  const { boot, seq } = await log.await({ boot: '', after: 0, waitMs: 0 })
  expect(await log.await({ boot: 'another', after: seq, waitMs: 10_000 })).toMatchObject({ all: true })
  for (let n = 0; n < 1_100; n += 1) {
    log.shard(`g${n}`, 'up')
    log.gone(`g${n}`)
  }
  expect(await log.await({ boot, after: seq, waitMs: 10_000 })).toMatchObject({
    all: true,
    shards: [{ id: 's1' }],
  })
})

test('a growing stream is reported with the next change, or after a second', async () => {
  using log = createChangeLog(noProxy)
  log.shard('s1', 'up')
  const first = await log.await({ boot: '', after: 0, waitMs: 0 })
  log.offset(stream)
  log.shard('s1', 'down')
  const second = await log.await({ boot: first.boot, after: first.seq, waitMs: 10_000 })
  expect(second.offsets).toEqual([stream])

  const waits = log.await({ boot: first.boot, after: second.seq, waitMs: 10_000 })
  log.offset({ ...stream, offset: 80 })
  log.offset({ ...stream, offset: 90 })
  expect(await waits).toMatchObject({ shards: [], offsets: [{ offset: 90 }] })
})

test('a start is told together with its end, and a start that takes long by itself', async () => {
  using log = createChangeLog(noProxy)
  const { boot, seq } = await log.await({ boot: '', after: 0, waitMs: 0 })
  const waits = log.await({ boot, after: seq, waitMs: 10_000 })
  log.shard('s1', 'starting', true)
  log.shard('s2', 'starting', true)
  // Longer than other changes are gathered.
  await pause(60)
  log.shard('s1', 'running')
  const both = await waits
  expect(both.shards.map(({ id }) => id).toSorted()).toEqual(['s1', 's2'])

  log.shard('s3', 'starting', true)
  const alone = await log.await({ boot, after: both.seq, waitMs: 10_000 })
  expect(alone.shards.map(({ id }) => id)).toEqual(['s3'])
})

test('another state of the proxy is a change, and a wait ends when its listener has gone', async () => {
  using log = createChangeLog(noProxy)
  const { boot, seq } = await log.await({ boot: '', after: 0, waitMs: 0 })
  const gone = new AbortController()
  const left = log.await({ boot, after: seq, waitMs: 10_000 }, gone.signal)
  gone.abort()
  await left
  const waits = log.await({ boot, after: seq, waitMs: 10_000 })
  log.proxy({ ...noProxy, state: 'running', pid: 7 })
  expect(await waits).toMatchObject({ proxy: { pid: 7 }, shards: [] })
})
