import { sql } from 'kysely'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { until } from '../../../../proof/until.ts'
import { isOnPostgres, openTestStore } from '../../test/open-test-store.ts'
import type { Store } from '../store/open-store.ts'
import { LeaseLost } from './lease-lost.ts'
import { createLeases, type Leases } from './leases-service.ts'

const log = pino({ level: 'silent' })
const uids = Array.from({ length: 256 }, (_, n) => n + 1)
const heldBy = (leases: Leases) => uids.filter((uid) => leases.heldEpoch(uid) !== undefined)

test('a server alone holds every database from its start, under a higher epoch than the one before', async () => {
  await using store = await openTestStore(':memory:')
  const before = await createLeases({ store, log })
  const epoch = before.epochOf(7)
  expect(heldBy(before)).toEqual(uids)
  expect(before.isOurs('seal the audit')).toBe(true)
  await before[Symbol.asyncDispose]()
  await using after = await createLeases({ store, log })
  expect(heldBy(after)).toEqual(uids)
  expect(after.epochOf(7)).toBeGreaterThan(epoch)
})

test.skipIf(isOnPostgres)(
  'a server whose store is older than what runs gives its bucket a higher epoch, one that was replaced does not',
  async () => {
    await using store = await openTestStore(':memory:')
    const replaced = await createLeases({ store, log })
    await using holder = await createLeases({ store, log })
    const [before, epoch] = [replaced.epochOf(7), holder.epochOf(7)]
    await replaced.raise(7)
    expect(replaced.epochOf(7)).toBe(before)
    expect(await holder.knownEpoch(7)).toBe(epoch)
    await holder.raise(7)
    expect(holder.epochOf(7)).toBeGreaterThan(epoch)
    await store.transaction(holder.fence(7, holder.epochOf(7)))
    await expect(store.transaction(holder.fence(7, epoch))).rejects.toBeInstanceOf(LeaseLost)
  },
)

test.skipIf(isOnPostgres)(
  'on an embedded store a server takes over at once from one that was killed',
  async () => {
    await using store = await openTestStore(':memory:')
    const killed = await createLeases({ store, log })
    const epoch = killed.epochOf(7)
    await using after = await createLeases({ store, log })
    expect(heldBy(after)).toEqual(uids)
    await expect(write(store, killed, 7, epoch, 'late')).rejects.toThrow(LeaseLost)
  },
)

test('what a server wrote under an epoch that has passed is not written', async () => {
  await using store = await openTestStore(':memory:')
  await using leases = await createLeases({ store, log })
  const epoch = leases.epochOf(7)
  await write(store, leases, 7, epoch, 'now')
  await sql`update buckets set epoch = epoch + 1 where bucket = 7`.execute(store.db)
  await expect(write(store, leases, 7, epoch, 'late')).rejects.toThrow(LeaseLost)
  expect(await settingsOf(store)).toEqual(['now'])
})

test.runIf(isOnPostgres)(
  'two servers share the databases; one that stops hands its own over at once',
  async () => {
    await using store = await openTestStore(':memory:')
    await using one = await createLeases({ store, log })
    const other = await createLeases({ store, log })
    await until('both hold about half, and none is held twice', async () => {
      const [ours, theirs] = [heldBy(one), heldBy(other)]
      expect(ours.filter((uid) => theirs.includes(uid))).toEqual([])
      return ours.length + theirs.length === 256 && Math.abs(ours.length - theirs.length) < 10
    })
    const [taken = 0] = heldBy(other)
    const epoch = other.epochOf(taken)
    await other[Symbol.asyncDispose]()
    await until('the first holds all', async () => heldBy(one).length === 256)
    expect(one.epochOf(taken)).toBeGreaterThan(epoch)
  },
)

test.runIf(isOnPostgres)('a bucket is not handed over in the midst of work on it', async () => {
  await using store = await openTestStore(':memory:')
  await using one = await createLeases({ store, log })
  const work = Promise.withResolvers<void>()
  const working = uids.map((uid) => one.during(uid, () => work.promise))
  await using other = await createLeases({ store, log })
  await until('the first begins nothing on half of them', async () => {
    const begun = await Promise.allSettled(uids.map((uid) => one.during(uid, async () => undefined)))
    return begun.filter(({ status }) => status === 'rejected').length > 100
  })
  expect(heldBy(other)).toEqual([])
  work.resolve()
  await Promise.all(working)
  await until('the other has them', async () => heldBy(other).length > 100)
})

test.runIf(isOnPostgres)(
  'a server that stands still longer than its lease relies on nothing, and writes nothing',
  async () => {
    await using store = await openTestStore(':memory:')
    let elapsed = 0
    await using paused = await createLeases({ store, log, elapsed: () => elapsed })
    const epoch = paused.epochOf(7)
    elapsed = 12_001
    expect(paused.heldEpoch(7)).toBe(undefined)
    elapsed = 0
    // By the time of PostgreSQL it is over. This server does not know it yet.
    await sql`update buckets set expires_at = 1`.execute(store.db)
    await expect(write(store, paused, 7, epoch, 'late')).rejects.toThrow(LeaseLost)
    expect(await settingsOf(store)).toEqual([])
  },
)

test.runIf(isOnPostgres)(
  'after a failover that lost the last claim, of two servers under one epoch the one that the store does not know writes nothing',
  async () => {
    await using store = await openTestStore(':memory:')
    await using lost = await createLeases({ store, log })
    const epoch = lost.epochOf(7)
    // The replica has not seen the claim, and gave the bucket to another server: by chance with the same epoch.
    await sql`update buckets set holder = 'other' where bucket = 7`.execute(store.db)
    await expect(write(store, lost, 7, epoch, 'late')).rejects.toThrow(LeaseLost)
    expect(await settingsOf(store)).toEqual([])
  },
)

test.runIf(isOnPostgres)('holders of one bucket after the same one have different epochs', async () => {
  const epochs = new Set<number>()
  for (let n = 0; n < 4; n += 1) {
    await using store = await openTestStore(':memory:')
    await using leases = await createLeases({ store, log })
    epochs.add(leases.epochOf(7))
  }
  expect(epochs.size).toBeGreaterThan(1)
})

async function write(store: Store, leases: Leases, uid: number, epoch: number, value: string): Promise<void> {
  await store.transaction(async (db) => {
    await leases.fence(uid, epoch)(db)
    await db.insertInto('settings').values({ name: 'written', value }).execute()
  })
}

async function settingsOf({ db }: Store): Promise<readonly string[]> {
  const rows = await db.selectFrom('settings').select('value').where('name', '=', 'written').execute()
  return rows.map(({ value }) => value)
}
