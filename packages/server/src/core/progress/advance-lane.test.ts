import { expect, test } from 'vitest'
import { goalOf, groupOf } from '../../../test/simulation/group.ts'
import {
  type LanePatch,
  type LaneRecord,
  type ListedStep,
  listOf,
  mergePatches,
  patchOf,
} from '../state/lane-record.ts'
import type { ObservedGroup, Step, Verdict } from '../state/topology.ts'
import { advanceLane, failLane, type LaneNews, nameComing } from './advance-lane.ts'

const second = (n: number) => `2026-11-21T12:00:${String(n).padStart(2, '0')}.000Z`
const add: Step = { kind: 'add-shard', runs: goalOf(), follow: 1, why: 'a surge shard' }
const aof: Step = { kind: 'enable-aof', shard: 3, why: 'its writes' }
const over: Step = { kind: 'hand-over', from: 1, to: 3, why: 'it runs the goal' }
const act = (step: Step): Verdict => ({ kind: 'do', step })
const wait: Verdict = {
  kind: 'wait',
  shard: 3,
  code: 'full_sync',
  why: 'shard 3 receives a full sync from shard 1',
}

const before = groupOf(1)
const [, replica] = before.shards
/** With shard 3 on the goal's revision. */
const during: ObservedGroup = {
  ...before,
  shards: [...before.shards, ...(replica === undefined ? [] : [{ ...replica, id: 3, wanted: goalOf() }])],
}
const after: ObservedGroup = { ...during, recordedPrimary: 3 }

function advance(lane: LaneRecord | undefined, at: number, verdict: Verdict, but: Partial<LaneNews> = {}) {
  const plain = {
    seen: during,
    goal: goalOf(),
    held: undefined,
    windowEnds: null,
    toCome: undefined,
    isTimeForLag: false,
  }
  return advanceLane(lane, { ...plain, verdict, at: second(at), ...but })
}
const brief = (lane: LaneRecord) => listOf(lane).map(({ kind, shard, state }) => `${kind} ${shard} ${state}`)

test('a lane tells what was done, what is done and what comes, with times, shards and their roles', () => {
  const coming = nameComing([add, aof, over, { kind: 'retire-shard', shard: 1, why: '' }], before, goalOf())
  const first = advance(undefined, 0, act(add), { seen: before, toCome: coming })
  expect(brief(first)).toEqual([
    'add-shard null running',
    'enable-aof new-1 planned',
    'hand-over new-1 planned',
    'retire-shard 1 planned',
  ])
  expect(first.state).toBe('running')

  const second_ = advance(first, 1, wait)
  expect(second_).toMatchObject({ state: 'waiting', waiting: { on: 'shard', shard: 3, since: second(1) } })
  expect(second_.steps).toMatchObject([
    { shard: '3', state: 'done', began: second(0), ended: second(1), role: 'surge' },
  ])
  // The same wait goes on.
  expect(advance(second_, 2, wait).waiting?.since).toBe(second(1))

  const third = advance(advance(second_, 3, act(aof)), 4, act(over))
  expect(brief(third)).toEqual([
    'add-shard 3 done',
    'enable-aof 3 done',
    'hand-over 3 running',
    'retire-shard 1 planned',
  ])
  const done = advance(third, 5, { kind: 'done' }, { seen: after })
  expect(done).toMatchObject({ state: 'done', handedOver: true, toCome: [] })
  expect(done.steps.at(-1)).toMatchObject({
    kind: 'hand-over',
    from: '1',
    role: 'surge',
    state: 'done',
    ended: second(5),
  })
})

test('a handover that has not taken place is not told as done, nor a step that was put off', () => {
  const moving = advance(undefined, 0, act(over))
  expect(advance(moving, 1, wait).steps).toMatchObject([{ state: 'left' }])
  const late = { code: 'order_late', why: 'late' } as const
  const put = advance(undefined, 0, act(aof))
  expect(advance(put, 1, act(aof), { held: late })).toMatchObject({
    state: 'waiting',
    steps: [{ state: 'running' }],
  })
  expect(advance(put, 1, wait, { held: late }).steps).toMatchObject([{ state: 'left' }])
})

test('what showed that the goal cannot be reached is told as failed, whether it ran or was done, and stays so', () => {
  const running = advance(undefined, 0, act(aof))
  expect(failLane(running, second(1)).steps).toMatchObject([{ state: 'failed', ended: second(1) }])
  const failed = failLane(advance(advance(undefined, 0, act(add), { seen: before }), 1, wait), second(2))
  const back: Step = { kind: 'retire-shard', shard: 3, why: '' }
  expect(brief(advance(advance(failed, 3, act(back)), 4, { kind: 'done' }))).toEqual([
    'add-shard 3 failed',
    'retire-shard 3 done',
  ])
  const untouched = advance(undefined, 0, wait)
  expect(failLane(untouched, second(1))).toEqual(untouched)
})

test('patches, one after the other or merged, make up the lane', () => {
  const coming = nameComing([aof, over], during, goalOf())
  const lanes: LaneRecord[] = []
  for (const [n, verdict] of [act(add), wait, act(aof), wait, act(over), { kind: 'done' } as const].entries())
    lanes.push(advance(lanes.at(-1), n, verdict, { toCome: n === 2 ? coming : undefined }))
  const patches = lanes.flatMap((lane, n) => patchOf(lanes[n - 1], lane) ?? [])
  const last = lanes.at(-1)
  if (last === undefined) throw new Error('there is none')
  const { steps: _, toCome: __, ...plain } = last
  expect(patches.reduce(apply, {})).toEqual({ ...plain, list: listOf(last) })
  expect(apply({}, patches.reduce(mergePatches))).toEqual({ ...plain, list: listOf(last) })
  expect(patchOf(last, { ...last })).toBeUndefined()
})

type Folded = { readonly list?: readonly ListedStep[] }
function apply({ list = [], ...known }: Folded, { steps = {}, stepsCount, ...fields }: LanePatch): Folded {
  const next = [...list]
  for (const [n, step] of Object.entries(steps)) next[Number(n)] = step
  return { ...known, ...fields, list: next.slice(0, stepsCount ?? next.length) }
}

test('a sync is told in bytes, with how fast it is, and how far the last follower is behind', () => {
  const syncing = (done: number): ObservedGroup => ({
    ...during,
    shards: during.shards.map((shard) =>
      shard.engine === null || shard.id === 1
        ? shard
        : {
            ...shard,
            engine: { ...shard.engine, offset: -30, sync: shard.id === 3 ? { done, total: 500 } : null },
          },
    ),
  })
  const first = advance(undefined, 0, wait, { seen: syncing(100), isTimeForLag: true })
  expect(first).toMatchObject({
    sync: { shard: 3, done: 100, total: 500, bytesPerSecond: null },
    lagBytes: 30,
  })
  const later = advance(first, 2, wait, { seen: syncing(300), isTimeForLag: true })
  expect(later.sync).toMatchObject({ done: 300, bytesPerSecond: 100 })
  // Between these times nothing is recorded.
  expect(advance(later, 3, wait, { seen: syncing(400) })).toEqual(later)
})

test('the start of a shard has failed for as long as a person is waited for because that shard does not start', () => {
  const restart: Step = { kind: 'restart-shard', shard: 2, runs: goalOf(), follow: 3, why: 'it is older' }
  const stuck = (shard: number): Verdict => ({
    kind: 'stuck',
    code: 'shard_failing',
    why: 'it does not start',
    retry: { kind: 'start-shard', shard, follow: 3, why: 'it may start now' },
  })
  const begun = advance(undefined, 0, act(restart), { seen: after })
  const failed = advance(begun, 1, stuck(2), { seen: after })
  expect(brief(failed)).toEqual(['restart-shard 2 failed'])
  expect(failed).toMatchObject({ state: 'stuck', waiting: { shard: 2, stuck: true } })
  expect(brief(advance(begun, 1, stuck(3), { seen: after }))).toEqual(['restart-shard 2 done'])
  const tried = advance(failed, 2, { ...wait, shard: 2 }, { seen: after })
  expect(brief(tried)).toEqual(['restart-shard 2 done'])
  // Of an upgrade that is taken back it remains the reason.
  const given = failLane(begun, second(1))
  const other = advance(given, 2, stuck(3), { seen: after })
  expect(brief(advance(other, 3, { ...wait, shard: 1 }, { seen: after }))).toEqual(['restart-shard 2 failed'])
})
