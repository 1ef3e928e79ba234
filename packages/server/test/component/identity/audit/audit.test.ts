import { afterEach, beforeEach, expect, test } from 'vitest'
import { createAudit } from '../../../../src/identity/audit/audit-service.ts'
import { verifyAuditOf } from '../../../../src/operator/operator-link.ts'
import { adminPassword, startControlPlane, type TestControlPlane } from '../../../control-plane.ts'

let fairlead: TestControlPlane
let admin: string
beforeEach(async () => {
  fairlead = await startControlPlane()
  admin = await fairlead.signIn('admin', adminPassword)
})
afterEach(() => fairlead[Symbol.asyncDispose]())

interface Entry {
  readonly uid: number
  readonly time: string
  readonly recorded_at: string
  readonly type: string
  readonly originator: string
  readonly details: Record<string, unknown>
  readonly hash: string
}
const send = (method: string, path: string, body?: object, auth = admin) =>
  fairlead.send(method, path, { auth, ...(body && { body }) })
const logs = async (query = '', auth = admin) =>
  (await send('GET', `/v1/logs${query}`, undefined, auth)).body as unknown as readonly Entry[]
const verify = (head?: string) => verifyAuditOf(fairlead.config, head)
const types = async () => (await logs()).map(({ type }) => type)
const authorize = (username: string, password: string) =>
  fairlead.send('POST', '/v1/users/authorize', { body: { username, password } })

// invariant: Every change, login and refused permission is in the audit.
test('every login, failure and lock, every change of users, roles, passwords and settings, and every refused permission is written down', async () => {
  const before = (await logs()).length
  await send('POST', '/v1/roles', { name: 'team', management: 'db_viewer' })
  await send('PUT', '/v1/roles/8', { name: 'crew' })
  await send('POST', '/v1/users', { name: 'mia', password: 'a-password-of-mine', role_uids: [8] })
  const mia = await fairlead.signIn('mia', 'a-password-of-mine')
  await send('GET', '/v1/users', undefined, mia)
  const change = { new_password: 'another-password', old_password: 'a-password-of-mine' }
  await send('POST', '/v1/users/password', change, mia)
  await send('DELETE', '/v1/users/password', { old_password: 'another-password' }, mia)
  const again = await fairlead.signIn('mia', 'a-password-of-mine')
  await send('POST', '/v1/users/logout', undefined, again)
  await authorize('nobody', 'x')
  for (let n = 0; n < 5; n += 1) await authorize('mia', 'wrong')
  await send('PUT', '/v1/users/password', { username: 'mia', new_password: 'the-third-password' })
  await send('PUT', '/v1/users/2', { role: 'none' })
  await send('PUT', '/v1/cluster', { password_min_length: 10 })
  await send('DELETE', '/v1/users/2')
  await send('DELETE', '/v1/roles/8')
  expect((await types()).slice(before)).toEqual([
    'role_created',
    'role_updated',
    'user_created',
    'login_succeeded',
    'permission_refused',
    'password_added',
    'password_removed',
    'login_succeeded',
    'logged_out',
    ...Array.from({ length: 6 }, () => 'login_failed'),
    'user_locked',
    'password_changed',
    'user_updated',
    'cluster_updated',
    'user_deleted',
    'role_deleted',
  ])
  const entries = await logs()
  expect(entries.find(({ type }) => type === 'permission_refused')).toMatchObject({
    severity: 'WARNING',
    originator: 'mia',
    user_uid: 2,
    address: '127.0.0.1',
    details: { permission: 'view_all_users_info' },
  })
  expect(entries.map(({ uid }) => uid)).toEqual(entries.map((_, n) => n + 1))
})

test('a refused request leaves no record of a change', async () => {
  const before = await types()
  await send('DELETE', '/v1/users/1')
  await send('POST', '/v1/users', { name: 'admin', password: 'a-password-of-mine' })
  await send('PUT', '/v1/roles/1', { name: 'x' })
  expect(await types()).toEqual(before)
})

test('the log is read by time, from either end, and page by page', async () => {
  for (let n = 0; n < 3; n += 1) await authorize('nobody', 'x')
  fairlead.pass({ seconds: 100 })
  await authorize('late', 'x')
  const all = await logs()
  const late = all.at(-1)
  expect(await logs('?order=desc')).toEqual(all.toReversed())
  expect(await logs('?limit=2&offset=1')).toEqual(all.slice(1, 3))
  expect(await logs(`?stime=${late?.recorded_at}`)).toEqual([late])
  expect(await logs(`?stime=${late?.time}`)).toEqual([late])
  expect(late?.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  expect(await logs(`?etime=${late?.time}`)).toEqual(all)
  const first = all[0]?.recorded_at ?? ''
  expect(await logs(`?etime=${first}`)).toEqual(all.filter(({ recorded_at }) => recorded_at === first))
  const plus = encodeURIComponent(
    new Date(Date.parse(late?.recorded_at ?? '') - 1).toISOString().replace('Z', '+00:00'),
  )
  expect(await logs(`?stime=${plus}`)).toEqual([late])
  expect(await logs('?stime=2099-01-01')).toEqual([])
  for (const query of [
    '?stime=yesterday',
    '?stime=2026-13-45',
    '?order=up',
    '?limit=0',
    '?limit=10001',
    '?offset=-1',
    '?type=x',
  ]) {
    expect([query, (await send('GET', `/v1/logs${query}`)).status]).toEqual([query, 400])
  }
})

test('a user that is limited to some databases reads the records about those', async () => {
  await send('POST', '/v1/roles', {
    name: 'two',
    management: 'db_member',
    resources: [{ type: 'db', uids: ['2'] }],
  })
  await send('POST', '/v1/users', { name: 'mia', password: 'a-password-of-mine', role_uids: [8] })
  const mia = await fairlead.signIn('mia', 'a-password-of-mine')
  await send('DELETE', '/v1/bdbs/3', undefined, mia)
  expect(await logs('', mia)).toEqual([])
  await send('PUT', '/v1/roles/8', { resources: [{ type: 'db', uids: ['3'] }] })
  expect(
    (await logs('', await fairlead.signIn('mia', 'a-password-of-mine'))).map(({ type }) => type),
  ).toEqual(['permission_refused'])
})

test('each start and stop of the server is a record', async () => {
  await fairlead.restart()
  const recorded = (await logs()).map(({ type }) => type).filter((type) => String(type).startsWith('server_'))
  expect(recorded).toEqual(['server_started', 'server_stopped', 'server_started'])
})

test('a role that shows a database does not show its log, unless it allows that', async () => {
  const role = (management: string, uid: string) =>
    send('POST', '/v1/roles', { name: uid, management, resources: [{ type: 'db', uids: [uid] }] })
  await role('db_member', '1')
  await role('db_viewer', '2')
  await send('POST', '/v1/users', { name: 'mia', password: 'a-password-of-mine', role_uids: [8, 9] })
  const mia = await fairlead.signIn('mia', 'a-password-of-mine')
  await send('PUT', '/v1/bdbs/2', {}, mia)
  expect((await logs()).some(({ type }) => type === 'permission_refused')).toBe(true)
  expect(await logs('', mia)).toEqual([])
})

test('a verification passes if no record was changed, with or without a server', async () => {
  const { records, head, fault } = await verify()
  expect(fault).toBeUndefined()
  expect([records, head]).toEqual([(await logs()).length, `${records}:${(await logs()).at(-1)?.hash}`])
  await authorize('nobody', 'x')
  expect(await verify(head)).toMatchObject({ records: records + 1, fault: undefined })
})

const tampering: Readonly<Record<string, readonly [string, RegExp]>> = {
  'a record is changed': ["update audit set originator = 'somebody' where seq = 2", /record 2 was changed/],
  'the time of a record is changed': [
    "update audit set at = '2020-01-01T00:00:00.000Z' where seq = 3",
    /record 3 was changed/,
  ],
  'the details of a record are not JSON': [
    "update audit set details = 'damaged' where seq = 2",
    /record 2 was changed/,
  ],
  'the details of a record are not an object': [
    "update audit set details = '7' where seq = 2",
    /record 2 was changed/,
  ],
  'a record is taken out': ['delete from audit where seq = 3', /record 3 is missing/],
  'the first is taken out': ['delete from audit where seq = 1', /record 1 is missing/],
  'the end is cut off': ['delete from audit where seq > 3', /record 4 is missing/],
  'two are swapped': [
    'update audit set seq = -1 where seq = 2; update audit set seq = 2 where seq = 3; update audit set seq = 3 where seq = -1',
    /record 2 does not follow/,
  ],
}
for (const [what, [change, message]] of Object.entries(tampering)) {
  // invariant: A verification of the audit fails when a record was changed or removed.
  test(`a verification fails when ${what}`, async () => {
    for (let n = 0; n < 4; n += 1) await authorize('nobody', 'x')
    await fairlead.tamper(change)
    expect((await verify()).fault).toMatch(message)
    expect(await logs()).not.toEqual([])
  })
}

test('a verification names what is missing at the end, before another record follows', async () => {
  const fault = await fairlead.withStore(async (store) => {
    await store.db.deleteFrom('audit').where('seq', '>', 1).execute()
    return (await createAudit(store, Date.now).verify(undefined)).fault
  })
  expect(fault).toMatch(/records 2 to \d+ are missing at the end/)
})

test('a head that was noted down shows that all after it was rewritten', async () => {
  for (let n = 0; n < 4; n += 1) await authorize('nobody', 'x')
  const { head } = await verify()
  await fairlead.tamper("delete from audit where seq > 3; update counters set value = 3 where name = 'audit'")
  expect((await verify()).fault).toBeUndefined()
  await authorize('nobody', 'x')
  expect((await verify(head)).fault).toMatch(/is not there any more: the audit was cut off or rewritten/)
})
