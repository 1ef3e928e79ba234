import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fairlead } from '../../../packages/server/src/core/identity/audit-record.ts'
import { verifyAudit } from '../../../packages/server/src/identity/audit/verify-audit.ts'
import { auditStore } from '../../../packages/server/src/identity/stores/audit-store.ts'
import { nextId } from '../../../packages/server/src/store/next-id.ts'
import { openStore, type Store } from '../../../packages/server/src/store/open-store.ts'
import { StoreAway } from '../../../packages/server/src/store/postgres/postgres-trouble.ts'
import { createSecretBox } from '../../../packages/server/src/store/secret-box.ts'
import { startPostgres, type TestPostgres } from '../../../packages/server/test/postgres.ts'
import { type PostgresRelay, startRelay } from '../../../packages/server/test/postgres-relay.ts'
import { campaign } from '../../../proof/campaign.ts'
import { createChance } from '../../../proof/create-chance.ts'
import { until } from '../../../proof/until.ts'

const { seed, times } = campaign()
const faults = times('postgres', 12)

let postgres: TestPostgres
beforeAll(async () => {
  postgres = await startPostgres()
})
afterAll(() => postgres?.[Symbol.asyncDispose]())

/** What the caller of a change was told. */
type Told = 'done' | 'not done' | 'unknown'

test(`of changes that are cut off in any way each is whole or not at all, once, and as its caller was told`, {
  timeout: 60_000 + faults * 20_000,
}, async () => {
  const chance = createChance(seed)
  const random = (below: number) => Math.floor(chance() * below)
  const address = await postgres.makeDatabase()
  const key = randomBytes(32)
  await using opened = new AsyncDisposableStack()
  const relays: PostgresRelay[] = []
  const stores: Store[] = []
  for (let n = 0; n < 2; n += 1) {
    const relay = opened.use(await startRelay(address.host))
    const place = { address: { ...address, host: relay.folder }, passwordFile: null }
    stores.push(opened.use(await openStore(place, () => createSecretBox(key))))
    relays.push(relay)
  }
  const told = new Map<string, Told>()
  const done = stores.map(() => 0)
  let goes = true
  const writers = stores.flatMap((store, server) =>
    Array.from({ length: 4 }, async (_, writer) => {
      for (let n = 0; goes; n += 1) {
        const outcome = await change(store, `${server}-${writer}-${n}`)
        told.set(`${server}-${writer}-${n}`, outcome)
        if (outcome === 'done') done[server] = (done[server] ?? 0) + 1
      }
    }),
  )
  for (let n = 0; n < faults; n += 1) {
    await inject(relays, address.database, random)
    const before = [...done]
    const goOn = () => done.every((count, server) => count > (before[server] ?? 0) + 5)
    await until(`both go on after fault ${n}`, goOn)
  }
  goes = false
  await Promise.all(writers)
  for (const relay of relays) relay.judge(() => 'pass')
  const [store] = stores
  if (store !== undefined) await checkAll(store, told)
})

/** Two rows, a number and a record of the audit: all of them, or none. */
async function change(store: Store, name: string): Promise<Told> {
  const at = '2026-11-21T12:00:00.000Z'
  try {
    await store.transaction(async (db) => {
      await db
        .insertInto('settings')
        .values({ name: `a:${name}`, value: '' })
        .execute()
      const value = String(await nextId(db, 'shard'))
      await auditStore(db).append({ type: 'bdb_updated', by: fairlead, details: { name } }, at)
      await db
        .insertInto('settings')
        .values({ name: `b:${name}`, value })
        .execute()
    })
    return 'done'
  } catch (cause) {
    if (!(cause instanceof StoreAway)) throw cause
    return cause.isCommitSent ? 'unknown' : 'not done'
  }
}

async function inject(
  relays: readonly PostgresRelay[],
  database: string,
  random: (below: number) => number,
): Promise<void> {
  const kind = random(10)
  if (kind < 6) return cutSome(relays[random(relays.length)], random)
  if (kind === 6) {
    const ours = `select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'fairlead' and datname = '${database}'`
    await postgres.run(ours)
    return
  }
  await postgres.stop(kind === 7 ? 'killed' : kind === 8 ? 'immediate' : 'frozen')
  const began = performance.now()
  const forMs = random(1_500)
  await until('it was away for a while', () => performance.now() - began >= forMs)
  await postgres.start()
}

/** One message after the other, up to ten: before it, in its midst, or its answer. */
function cutSome(relay: PostgresRelay | undefined, random: (below: number) => number): void {
  const fates = ['cut', 'half', 'unanswered'] as const
  let [left, next] = [1 + random(10), 1 + random(40)]
  relay?.judge(() => {
    next -= 1
    if (next > 0 || left === 0) return 'pass'
    left -= 1
    next = 1 + random(40)
    return fates[random(fates.length)] ?? 'cut'
  })
}

async function checkAll(store: Store, told: ReadonlyMap<string, Told>): Promise<void> {
  const rows = new Map(
    (await store.db.selectFrom('settings').selectAll().execute()).map(({ name, value }) => [name, value]),
  )
  const records = await auditStore(store.db).listAfter(0, 1_000_000)
  const recorded = records.map(({ details }) => String(details?.['name']))
  expect(recorded.length).toBe(new Set(recorded).size)
  const onRecord = new Set(recorded)
  const numbers: string[] = []
  for (const [name, outcome] of told) {
    const there = [rows.has(`a:${name}`), rows.has(`b:${name}`), onRecord.has(name)]
    expect([name, new Set(there).size], 'half of it').toEqual([name, 1])
    if (outcome !== 'unknown') expect([name, there[0]]).toEqual([name, outcome === 'done'])
    if (there[0] === true) numbers.push(rows.get(`b:${name}`) ?? '')
  }
  expect(numbers.length).toBe(new Set(numbers).size)
  expect((await verifyAudit(store.db)).fault).toBeUndefined()
}
