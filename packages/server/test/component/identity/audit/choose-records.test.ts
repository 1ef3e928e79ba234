import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuditEvent, fairlead } from '../../../../src/core/identity/audit-record.ts'
import { steadyGoal } from '../../../../src/core/state/database.ts'
import { actionsStore } from '../../../../src/fleet/stores/actions-store.ts'
import { databasesStore } from '../../../../src/fleet/stores/databases-store.ts'
import { auditStore } from '../../../../src/identity/stores/audit-store.ts'
import { adminPassword, startControlPlane, type TestControlPlane } from '../../../control-plane.ts'
import { databaseOf } from '../../../records.ts'
import { signInLimited } from '../../../sign-in-limited.ts'

const eve = { uid: 7, name: 'eve', address: null }
const action = '11111111-1111-4111-8111-111111111111'
/** What the cluster has recorded before comes first. */
const written: readonly AuditEvent[] = [
  { type: 'bdb_updated', by: eve, databaseUid: 1, details: { n: 0 } },
  { type: 'bdb_updated', by: eve, databaseUid: 2, details: { n: 1 } },
  { type: 'bdb_action_ordered', by: eve, databaseUid: 1, details: { n: 2, action, order: 'pause' } },
  { type: 'bdb_action_failed', by: fairlead, databaseUid: 1, details: { n: 3, action } },
  { type: 'bdb_shard_hung', by: fairlead, databaseUid: 2, details: { n: 4 } },
]

let running: TestControlPlane
let auth: string
let limited: string
beforeAll(async () => {
  running = await startControlPlane()
  await running.withStore(async ({ db }) => {
    for (const name of ['orders', 'carts'])
      await databasesStore(db).insert({ ...databaseOf({ name }), groups: 1 })
    const goal = steadyGoal(databaseOf())
    const at = '2026-11-21T12:00:00.000Z'
    await actionsStore(db).insert({ uid: action, databaseUid: 1, kind: 'upgrade', goal }, at)
    for (const event of written) await auditStore(db).append(event, at)
  })
  auth = await running.signIn('admin', adminPassword)
  limited = await signInLimited(running, auth, { management: 'db_member', uids: ['2'] })
})
afterAll(() => running[Symbol.asyncDispose]())

/** The numbers of the records that were written above. */
async function ask(query: string, who = auth) {
  const { status, body, headers } = await running.send('GET', `/v1/logs?${query}`, { auth: who })
  expect([query, status]).toEqual([query, 200])
  const records = body as unknown as readonly { readonly details: { readonly n?: number } }[]
  return { found: records.flatMap(({ details: { n } }) => n ?? []), next: headers.get('x-next-cursor') }
}

test.each([
  ['bdb_uid=1', [0, 2, 3]],
  ['bdb_uid=2&order=desc', [4, 1]],
  ['bdb_uid=3', []],
  [`action_uid=${action}`, [2, 3]],
  [`action_uid=${action}&bdb_uid=2`, []],
  [`action_uid=${action.replaceAll('1', '2')}`, []],
  ['type=bdb_updated', [0, 1]],
  ['originator=eve', [0, 1, 2]],
  ['originator=eve&bdb_uid=1&type=bdb_updated', [0]],
  ['severity=WARNING&originator=', [3, 4]],
  ['severity=INFO&bdb_uid=1', [0, 2]],
  ['severity=INFO&type=bdb_shard_hung', []],
])('%s chooses the records %j', async (query, found) => {
  expect((await ask(query)).found).toEqual(found)
})

test('a user who may see some databases gets no other records, whatever is asked for', async () => {
  expect((await ask('originator=eve', limited)).found).toEqual([1])
  expect((await ask('bdb_uid=1', limited)).found).toEqual([])
  expect((await ask(`action_uid=${action}`, limited)).found).toEqual([])
})

test.each(['asc', 'desc'])('pages follow each other in the order %s', async (order) => {
  const seen: number[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { found, next } = await ask(`bdb_uid=1&limit=1&order=${order}${cursor && `&cursor=${cursor}`}`)
    seen.push(...found)
    cursor = next
  }
  expect(seen).toEqual(order === 'asc' ? [0, 2, 3] : [3, 2, 0])
})

test('a cursor of the other order, an offset besides, and what is no action', async () => {
  const { next } = await ask('bdb_uid=1&limit=1')
  expect((await ask(`bdb_uid=1&limit=1&offset=1&cursor=${next}`)).found).toEqual([3])
  for (const query of [
    `order=desc&cursor=${next}`,
    'action_uid=x%25',
    'severity=BAD',
    'type=x-y',
    'type=bdb_gone',
  ])
    expect([query, (await running.send('GET', `/v1/logs?${query}`, { auth })).status]).toEqual([query, 400])
})
