import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStore } from '../../../packages/server/src/store/open-store.ts'
import { createSecretBox } from '../../../packages/server/src/store/secret-box.ts'
import { adminPassword, startControlPlane } from '../../../packages/server/test/control-plane.ts'
import { startPostgres, type TestPostgres } from '../../../packages/server/test/postgres.ts'
import { type Fate, type PostgresRelay, startRelay } from '../../../packages/server/test/postgres-relay.ts'

let postgres: TestPostgres
beforeAll(async () => {
  postgres = await startPostgres()
})
afterAll(() => postgres?.[Symbol.asyncDispose]())

/** A server whose way to PostgreSQL is disturbed, with a client that is signed in. */
async function startBehindRelay() {
  await using opened = new AsyncDisposableStack()
  const address = await postgres.makeDatabase()
  const relay = opened.use(await startRelay(address.host))
  const fairlead = opened.use(await startControlPlane({ store: { ...address, host: relay.folder } }))
  const auth = await fairlead.signIn('admin', adminPassword)
  const owned = opened.move()
  return {
    relay,
    async add(name: string) {
      const body = { name, password: 'a-password-of-mine', role: 'db_viewer' }
      const { status, body: answer } = await fairlead.send('POST', '/v1/users', { auth, body })
      return [status, answer['error_code'] ?? 'none']
    },
    async users() {
      const { body } = await fairlead.send('GET', '/v1/users', { auth })
      return (body as unknown as { readonly name: string }[]).map(({ name }) => name)
    },
    /** PostgreSQL is there again. */
    comeBack() {
      relay.judge(() => 'pass')
      relay.aim(postgres.folder)
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/**
 * Of the transaction that makes a user, the fate of its COMMIT; then `after` has each message of a client.
 */
function commitOfUser(relay: PostgresRelay, fate: Fate, after: (sql: string) => Fate): void {
  let [isComing, isOver] = [false, false]
  relay.judge(({ sql, from }) => {
    if (isOver && from === 'client') return after(sql)
    isComing ||= sql.includes('insert into "users"')
    if (isOver || !isComing || sql !== 'commit') return 'pass'
    isOver = true
    return fate
  })
}

/** From now on PostgreSQL is away. */
const goAway = (relay: PostgresRelay) => (): Fate => {
  relay.aim(null)
  return 'cut'
}

test.concurrent('a change whose COMMIT got no answer is made once, whether the COMMIT or its answer was lost', async () => {
  await using fairlead = await startBehindRelay()
  for (const fate of ['cut', 'half', 'unanswered'] as const) {
    commitOfUser(fairlead.relay, fate, () => 'pass')
    expect([fate, await fairlead.add(`was-${fate}`)]).toEqual([fate, [200, 'none']])
  }
  expect(await fairlead.users()).toEqual(['admin', 'was-cut', 'was-half', 'was-unanswered'])
})

test.concurrent('if PostgreSQL stays away after a COMMIT, the answer says that the change may have been made', async () => {
  await using fairlead = await startBehindRelay()
  commitOfUser(fairlead.relay, 'unanswered', goAway(fairlead.relay))
  expect(await fairlead.add('mia')).toEqual([503, 'outcome_unknown'])
  fairlead.comeBack()
  expect(await fairlead.users()).toEqual(['admin', 'mia'])
})

test.concurrent('if PostgreSQL goes away after a change and before the answer is read, the answer says so', async () => {
  await using fairlead = await startBehindRelay()
  const away = goAway(fairlead.relay)
  commitOfUser(fairlead.relay, 'pass', away)
  expect(await fairlead.add('mia')).toEqual([503, 'outcome_unknown'])
  fairlead.comeBack()
  expect(await fairlead.users()).toEqual(['admin', 'mia'])
})

test.concurrent('if PostgreSQL goes away before a COMMIT, nothing is changed, and the answer says so', async () => {
  await using fairlead = await startBehindRelay()
  const away = goAway(fairlead.relay)
  let isAway = false
  fairlead.relay.judge(({ sql }) => {
    isAway ||= sql.includes('insert into "users"')
    return isAway ? away() : 'pass'
  })
  expect(await fairlead.add('mia')).toEqual([503, 'unavailable'])
  fairlead.comeBack()
  expect(await fairlead.users()).toEqual(['admin'])
})

test.concurrent('a PostgreSQL that is away for a moment fails no request, neither a change nor a reading', async () => {
  await using fairlead = await startBehindRelay()
  goAway(fairlead.relay)()
  fairlead.relay.repair()
  const answers = [fairlead.users(), fairlead.add('mia')]
  setTimeout(fairlead.comeBack, 500)
  expect(await Promise.all(answers)).toEqual([expect.arrayContaining(['admin']), [200, 'none']])
})

test.concurrent('what a transaction reads is there once it has its turn, and what it has committed is on disk, whatever the database is set to', async () => {
  const address = await postgres.makeDatabase()
  for (const setting of ["default_transaction_isolation = 'repeatable read'", 'synchronous_commit = off'])
    await postgres.run(`alter database ${address.database} set ${setting}`)
  await using store = await openStore({ address, passwordFile: null }, () => createSecretBox(randomBytes(32)))
  await store.db.insertInto('settings').values({ name: 'count', value: '0' }).execute()
  await Promise.all(
    Array.from({ length: 20 }, () =>
      store.transaction(async (db) => {
        const { value } = await db
          .selectFrom('settings')
          .select('value')
          .where('name', '=', 'count')
          .executeTakeFirstOrThrow()
        const next = { value: String(Number(value) + 1) }
        await db.updateTable('settings').set(next).where('name', '=', 'count').execute()
        const { rows } = await sql<{ synchronous_commit: string }>`show synchronous_commit`.execute(db)
        expect(rows[0]?.synchronous_commit).toBe('local')
      }),
    ),
  )
  const row = await store.db
    .selectFrom('settings')
    .select('value')
    .where('name', '=', 'count')
    .executeTakeFirst()
  expect(row?.value).toBe('20')
})
