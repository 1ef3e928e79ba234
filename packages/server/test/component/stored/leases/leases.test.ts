import { sql } from 'kysely'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { until } from '../../../../../../proof/until.ts'
import { createBucketHolder } from '../../../../src/leases/bucket-holder.ts'
import { LeaseLost } from '../../../../src/leases/lease-lost.ts'
import { createLeases, type Leases } from '../../../../src/leases/leases-service.ts'
import type { Store } from '../../../../src/store/open-store.ts'
import { isOnPostgres, openTestStore } from '../../../open-test-store.ts'

const log = pino({ level: 'silent' })
const uids = Array.from({ length: 256 }, (_, n) => n + 1)
const heldBy = (leases: Leases) => uids.filter((uid) => leases.heldEpoch(uid) !== undefined)

test('a server alone holds every database from its start, under a higher epoch than the one before', async () => {
  await using store = await openTestStore(':memory:')
  const before = await createLeases({ store, log })
  const epoch = before.epochOf(7)
  expect(heldBy(before)).toEqual(uids)
  expect(before.isOurs('keep the audit')).toBe(true)
  await before[Symbol.asyncDispose]()
  await using after = await createLeases({ store, log })
  expect(heldBy(after)).toEqual(uids)
  expect(after.epochOf(7)).toBeGreaterThan(epoch)
})

test.skipIf(isOnPostgres)(
  'a server whose store is older than the agents’ epochs raises the epoch of its bucket, and a replaced server does not',
  async () => {
    await using store = await openTestStore(':memory:')
    const replaced = await createLeases({ store, log })
    await using holder = await createLeases({ store, log })
    const [before, epoch] = [replaced.epochOf(7), holder.epochOf(7)]
    await replaced.raise(7)
    expect(replaced.epochOf(7)).toBe(before)
    expect(await holder.knownEpoch(7)).toBe(epoch)
    expect([await replaced.knownEpoch(7), await replaced.epochAfterRefusal(7)]).toEqual([before, epoch])
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

// invariant: A server that was replaced writes nothing to the store.
test('a write under a former epoch is refused', async () => {
  await using store = await openTestStore(':memory:')
  await using leases = await createLeases({ store, log })
  const epoch = leases.epochOf(7)
  await write(store, leases, 7, epoch, 'now')
  await sql`update buckets set epoch = epoch + 1 where bucket = 7`.execute(store.db)
  await expect(write(store, leases, 7, epoch, 'late')).rejects.toThrow(LeaseLost)
  expect(await settingsOf(store)).toEqual(['now'])
})

test.runIf(isOnPostgres)(
  'leases are renewed while requests wait for every connection they may take',
  async () => {
    await using store = await openTestStore(':memory:')
    const holder = createBucketHolder({ store, log, elapsed: () => performance.now() })
    await holder.look()
    const [locked, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const locking = store.transaction(async (db) => {
      await sql`lock table settings in access exclusive mode`.execute(db)
      locked.resolve()
      await done.promise
    })
    await locked.promise
    let answered = 0
    const requests = Array.from({ length: 30 }, async () => {
      await store.db.selectFrom('settings').selectAll().execute()
      answered += 1
    })
    await holder.renew()
    expect(answered).toBe(0)
    done.resolve()
    await Promise.all([locking, ...requests])
    await holder.leave()
  },
)

test.runIf(isOnPostgres)('a server that was killed is on record for a day', async () => {
  await using store = await openTestStore(':memory:')
  await using leases = await createLeases({ store, log })
  const holder = createBucketHolder({ store, log, elapsed: () => performance.now() })
  const known = async () =>
    (await store.db.selectFrom('servers').select('name').execute()).map(({ name }) => name)
  for (const [name, agoMs] of Object.entries({ killed: 80_000_000, gone: 90_000_000 }))
    await sql`insert into servers (name, seen_at) select ${name}, max(seen_at) - ${agoMs} from servers`.execute(
      store.db,
    )
  await holder.renew()
  expect(await known()).toContain('killed')
  expect(await known()).not.toContain('gone')
  expect(leases.heldEpoch(7)).toBeDefined()
  await holder.leave()
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

test.runIf(isOnPostgres)('a bucket is not handed over while work on it goes on', async () => {
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
  'a server that stalls for longer than its lease relies on no lease, and writes nothing',
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

test.runIf(isOnPostgres)('a lease that could not be handed back is handed back later', async () => {
  await using store = await openTestStore(':memory:')
  await using one = await createLeases({ store, log })
  const refuse = `create function refuse() returns trigger language plpgsql as
    $$ begin raise exception 'no room' using errcode = '53100'; end $$`
  await sql.raw(refuse).execute(store.db)
  const trigger = 'before update on buckets for each row when (new.holder is null)'
  await sql.raw(`create trigger refuse ${trigger} execute function refuse()`).execute(store.db)
  await using other = await createLeases({ store, log })
  await until('the first has given up half of them', () => heldBy(one).length < 150)
  await sql`drop trigger refuse on buckets`.execute(store.db)
  await until('the other has them', () => heldBy(other).length > 100)
})

test.runIf(isOnPostgres)(
  'a lease that was given by a clock which was ahead lasts no longer than others',
  async () => {
    await using store = await openTestStore(':memory:')
    // As after the clock of PostgreSQL was set back by an hour: by a server that is dead.
    const ahead = sql`cast(extract(epoch from clock_timestamp()) * 1000 as bigint) + 3600000`
    await sql`update buckets set holder = 'dead', expires_at = ${ahead} where bucket < 200`.execute(store.db)
    await sql`insert into servers (name, seen_at) values ('dead', ${ahead})`.execute(store.db)
    await using leases = await createLeases({ store, log })
    await until('it takes half of what is free', () => heldBy(leases).length > 50)
    const now = sql`extract(epoch from clock_timestamp()) * 1000`
    await until('no lease lasts longer than 15 s', async () => {
      const { rows } = await sql`select 1 from buckets where expires_at > ${now} + 15000
      union select 1 from servers where seen_at > ${now}`.execute(store.db)
      return rows.length === 0
    })
    // 15 s later.
    await sql`update servers set seen_at = seen_at - 15000 where name = 'dead'`.execute(store.db)
    await sql`update buckets set expires_at = expires_at - 15000 where holder = 'dead'`.execute(store.db)
    await until('it holds all', () => heldBy(leases).length === 256)
  },
)

test.skipIf(isOnPostgres)(
  'on a restored store, no server gets the epoch of a server that still works',
  async () => {
    const epochs = new Set<number>()
    for (let n = 0; n < 3; n += 1) {
      await using store = await openTestStore(':memory:')
      await using _first = await createLeases({ store, log })
      await using second = await createLeases({ store, log })
      for (const uid of uids.slice(0, 1)) epochs.add(second.epochOf(uid))
    }
    // One of 65,536 times, all three are the same.
    expect(epochs.size).toBeGreaterThan(1)
  },
)

test('a lease is of the server that has claimed it, also where another was given the same epoch', async () => {
  await using store = await openTestStore(':memory:')
  await using leases = await createLeases({ store, log })
  const epoch = leases.epochOf(7)
  await sql`update buckets set holder = 'another' where bucket = 7`.execute(store.db)
  await expect(write(store, leases, 7, epoch, 'late')).rejects.toThrow(LeaseLost)
  await leases.raise(7)
  expect(leases.epochOf(7)).toBe(epoch)
})

test.runIf(isOnPostgres)(
  'a server uses a lease again at once that it could not rely on for a while, if PostgreSQL has kept it',
  async () => {
    await using store = await openTestStore(':memory:')
    let elapsed = 0
    const holder = createBucketHolder({ store, log, elapsed: () => elapsed })
    await holder.renew()
    await holder.look()
    const told: number[] = []
    holder.onTaken(async (buckets) => void told.push(...buckets))
    await holder.renew()
    expect(told).toEqual([])
    elapsed = 12_001
    expect(holder.find(7)).toBe(undefined)
    await holder.renew()
    expect(holder.find(7)).toBeDefined()
    expect(told).toContain(7)
    await holder.leave()
  },
)

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
