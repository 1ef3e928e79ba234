import { ApiError, type Changes, digestOfMarks, type SeenOffset } from '@fairlead/api'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { until } from '../../../../../../proof/until.ts'
import { AgentUnreachable } from '../../../../src/nodes/agent-link.ts'
import { hearChanges } from '../../../../src/reconcile/loop/hear-changes.ts'

const marks = { s1: 'aaaaaaaaaaaa', s2: 'bbbbbbbbbbbb', s3: 'cccccccccccc' }
const proxy = { state: 'running', pid: 7, why: '', crashes: 0 } as const

/** An answer that lists these marks, of an agent whose shards have `all` of them. */
function news(change: Partial<Changes>, all: Record<string, string> = marks): Changes {
  return {
    boot: 'b',
    seq: 5,
    all: false,
    shards: [],
    gone: [],
    offsets: [],
    proxy,
    digest: digestOfMarks(Object.values(all)),
    ...change,
  }
}

const listed = (of: Record<string, string>) => Object.entries(of).map(([id, mark]) => ({ id, mark }))
const everything = news({ all: true, shards: listed(marks) })

/** Hears these answers in turn. Shards s1 and s2 belong to database 1, s3 to database 2. */
async function hear(...answers: readonly (Changes | Error)[]) {
  const asked: number[] = []
  const events: (number | string | SeenOffset)[] = []
  const end = new AbortController()
  await using _ended = { [Symbol.asyncDispose]: async () => end.abort() }
  const hearing = hearChanges(
    {
      agent: {
        awaitChanges: async ({ body }) => {
          const answer = answers[asked.push(body.after) - 1]
          if (answer instanceof Error) throw answer
          return answer ?? new Promise<never>(() => undefined)
        },
      },
      shards: { databasesOf: async (ids) => [...new Set(ids.map((id) => Math.ceil(id / 2)))] },
      databases: {
        advanceHistories: async (seen) => void events.push(`histories of ${seen.map(({ shard }) => shard)}`),
        listReserved: async () =>
          [1, 2].map((uid) => ({ uid, endpointPort: null, memoryBytes: 0, replicas: 0 })),
      },
      time: { elapsed: () => 0, pause: async () => undefined },
      log: pino({ level: 'silent' }),
    },
    {
      changed: (uid) => void events.push(uid),
      otherProxy: () => void events.push('other proxy'),
      asked: () => events.push('asked'),
    },
    end.signal,
  )
  void hearing
  await until('all answers are heard', () => asked.length > answers.length, { everyMs: 1 })
  return { asked, events }
}

test('only databases with changed shards are reported', async () => {
  const other = { ...marks, s3: 'dddddddddddd' }
  const { asked, events } = await hear(
    everything,
    news({ seq: 6, shards: listed({ s3: other.s3 }) }, other),
    news({ seq: 7 }, other),
  )
  expect(asked).toEqual([0, 5, 6, 7])
  expect(events).toEqual([1, 2, 'other proxy', 'asked', 2, 'asked', 'asked'])
})

// invariant: A change that was missed is found by the digest.
test('a change that was missed is found by the digest: then everything is asked for, and what differs is reported', async () => {
  const other = { ...marks, s1: 'dddddddddddd' }
  const { asked, events } = await hear(
    everything,
    news({ seq: 9 }, other),
    news({ seq: 9, all: true, shards: listed(other) }, other),
  )
  expect(asked).toEqual([0, 5, 0, 9])
  expect(events.slice(-2)).toEqual([1, 'asked'])
})

test('a shard that is gone is a change, also where it is only no longer listed', async () => {
  const { s1, s2 } = marks
  const left = { s1, s2 }
  const { events } = await hear(everything, news({ seq: 6, gone: ['s3'] }, left))
  expect(events.slice(-2)).toEqual([2, 'asked'])
  const listing = news({ boot: 'c', all: true, shards: listed(left) }, left)
  expect((await hear(everything, listing)).events.slice(-2)).toEqual([2, 'asked'])
})

test('an agent that was away is asked for what came after its last report; if it starts again from 0, unchanged shards begin no turn', async () => {
  const { asked, events } = await hear(everything, new AgentUnreachable('away'), { ...everything, boot: 'c' })
  expect(asked).toEqual([0, 5, 5, 5])
  expect(events.slice(-2)).toEqual(['asked', 'asked'])
})

test('the offsets of primaries are on record before a turn sees them dead', async () => {
  const offsets = [{ id: 's1', runId: 'r', replid: 'h', offset: 70 }]
  const other = { ...marks, s1: 'dddddddddddd' }
  const { events } = await hear(
    everything,
    news({ seq: 6, offsets, shards: listed({ s1: other.s1 }) }, other),
  )
  expect(events.slice(-3)).toEqual(['histories of 1', 1, 'asked'])
})

test('another proxy process has every database looked at, once it runs', async () => {
  const { events } = await hear(
    everything,
    news({ seq: 6, proxy: { ...proxy, state: 'starting', pid: 8 } }),
    news({ seq: 7, proxy: { ...proxy, pid: 8 } }),
  )
  expect(events.slice(-5)).toEqual(['asked', 'other proxy', 1, 2, 'asked'])
})

test('with an agent that is too old to tell, every database is looked at each time', async () => {
  const tooOld = new ApiError(404, 'not_found', 'there is no POST /agent/changes here')
  expect((await hear(tooOld, tooOld)).events).toEqual([1, 2, 'asked', 1, 2, 'asked'])
})
