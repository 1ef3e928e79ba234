import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuditEvent, fairlead } from '../../../../src/core/identity/audit-record.ts'
import { databasesStore } from '../../../../src/fleet/stores/databases-store.ts'
import { auditStore } from '../../../../src/identity/stores/audit-store.ts'
import { adminPassword, startControlPlane, type TestControlPlane } from '../../../control-plane.ts'
import { databaseOf } from '../../../records.ts'
import { signInLimited } from '../../../sign-in-limited.ts'

const lossOf = (databaseUid: number, n: number): AuditEvent => ({
  type: 'bdb_primary_replaced',
  by: fairlead,
  databaseUid,
  details: { shard: '2', instead_of: '1', n },
})

let running: TestControlPlane
let auth: string
let limited: string
beforeAll(async () => {
  running = await startControlPlane()
  const now = new Date().toISOString()
  const old = new Date(Date.now() - 40 * 24 * 3_600_000).toISOString()
  await running.withStore(async ({ db }) => {
    for (const name of ['orders', 'carts'])
      await databasesStore(db).insert({ ...databaseOf({ name }), groups: 1 })
    await auditStore(db).append(lossOf(1, 0), old)
    for (const event of [lossOf(1, 1), lossOf(2, 2), lossOf(3, 3), lossOf(1, 4)])
      await auditStore(db).append(event, now)
    const deleted = { type: 'bdb_deleted', by: fairlead, databaseUid: 3 } as const
    await auditStore(db).append(deleted, now)
  })
  auth = await running.signIn('admin', adminPassword)
  limited = await signInLimited(running, auth, { management: 'db_member', uids: ['2'] })
})
afterAll(() => running[Symbol.asyncDispose]())

type Records = readonly { readonly uid: number; readonly details: { readonly n?: number } }[]
const numbers = (records: unknown) => (records as Records).map(({ details: { n } }) => n)

async function losses(who = auth) {
  const { body } = await running.send('GET', '/v1/losses', { auth: who })
  return { numbers: numbers(body), uids: (body as unknown as Records).map(({ uid }) => uid) }
}

const see = (database: number, upTo: unknown, who = auth) =>
  running.send('POST', `/v1/bdbs/${database}/losses_seen`, { auth: who, body: { up_to: upTo } })

async function seenOnRecord() {
  const { body } = await running.send('GET', '/v1/logs?type=bdb_losses_seen', { auth })
  return body as unknown as readonly Record<string, unknown>[]
}

test('possible losses of the last month are unseen, but for those of deleted databases and of other users', async () => {
  expect((await losses()).numbers).toEqual([4, 2, 1])
  expect((await losses(limited)).numbers).toEqual([2])
})

test('only a loss of that database can be seen, and only by a user that may change it', async () => {
  const { uids } = await losses()
  const [last = 0, ofOther = 0] = uids
  for (const upTo of [ofOther, 1, 9_999])
    expect(await see(1, upTo)).toMatchObject({ status: 400, body: { error_code: 'invalid_request' } })
  expect(await see(99, last)).toMatchObject({ status: 404, body: { error_code: 'db_not_exist' } })
  expect(await see(1, last, limited)).toMatchObject({ status: 403 })
  expect(await seenOnRecord()).toEqual([])
})

test('what was seen is gone for all users, and the one that saw it is recorded once', async () => {
  const { uids } = await losses()
  const [newest = 0, , oldest = 0] = uids
  expect(numbers((await see(1, oldest)).body)).toEqual([4])
  expect((await losses()).numbers).toEqual([4, 2])
  expect(numbers((await see(1, newest)).body)).toEqual([])
  expect(numbers((await see(1, newest)).body)).toEqual([])
  expect((await losses()).numbers).toEqual([2])
  expect(await seenOnRecord()).toMatchObject([
    { originator: 'admin', bdb_uid: '1', details: { up_to: oldest } },
    { originator: 'admin', bdb_uid: '1', details: { up_to: newest } },
  ])
  await see(2, uids[1] ?? 0, limited)
  expect((await losses()).numbers).toEqual([])
})
