import {
  type Management,
  managements,
  type Operation,
  operations,
  permissionsOf,
  Refusal,
} from '@fairlead/api'
import { currentRequestId } from '@fairlead/engine'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import type { Caller } from '../../../src/core/identity/access.ts'
import { createHttp } from '../../../src/http/create-http.ts'
import { mountOn } from '../../../src/http/mount.ts'
import { AgentUnreachable, StaleEpoch } from '../../../src/nodes/agent-link.ts'

const all: readonly Operation[] = Object.values(operations)

/** A server whose token is the name of the management for user 9; `db_viewer@2` is limited to database 2. */
function serverWith(handle: () => Promise<never> = () => Promise.reject(new Error('a secret in a stack'))) {
  const lines: string[] = []
  const refused: string[] = []
  const log = pino({}, { write: (line: string) => void lines.push(line) })
  const identify = async (header: string | undefined, { address }: { readonly address: string }) => {
    const [, management, database] = /^Bearer (\w+)(?:@(\d+))?$/.exec(header ?? '') ?? []
    if (management === undefined) throw new Refusal('unauthorized')
    const databases = database === undefined ? null : [Number(database)]
    const grants = [{ management: management as Management, databases }]
    return { user: { uid: 9, name: management, grants }, address, token: null }
  }
  const app = createHttp({
    identify,
    onRefused: async ({ user }: Caller, permission) => void refused.push(`${user.name} ${permission}`),
    log,
  })
  const mount = mountOn(app)
  for (const operation of all) mount(operation, handle)
  return { app, lines, refused }
}

const ask = (
  app: ReturnType<typeof serverWith>['app'],
  { method, path, body }: Operation,
  token: string,
  uid = '1',
) =>
  app.inject({
    method,
    url: path.replace(/:\w+/g, uid),
    headers: token === '' ? {} : { authorization: `Bearer ${token}` },
    ...(body && { payload: {} }),
  })

// invariant: Every operation has its permission, checked before its handler.
describe('a role may do what its permissions say, and nothing else', () => {
  for (const operation of all) {
    const { permission } = operation
    test(`${operation.method} ${operation.path}: ${permission ?? 'open to all'}`, async () => {
      const { app, refused } = serverWith()
      expect((await ask(app, operation, '')).statusCode === 401).toBe(permission !== null)
      for (const management of managements) {
        const { statusCode, body } = await ask(app, operation, management)
        const held: readonly string[] = permissionsOf(management)
        if (permission === null || permission === 'signed_in' || held.includes(permission)) {
          expect([401, 403]).not.toContain(statusCode)
        } else {
          expect([statusCode, body]).toEqual([403, expect.stringContaining('"forbidden"')])
          expect(refused).toContain(`${management} ${permission}`)
        }
      }
    })
  }
})

test('a role that is limited to databases reaches those, and may read what concerns no database', async () => {
  const { app } = serverWith()
  const isRefused = async (operation: Operation, token: string, uid?: string) =>
    (await ask(app, operation, token, uid)).statusCode === 403
  const { getDatabase, upgradeDatabase, deleteDatabase, createDatabase, listDatabases, listUsers } =
    operations
  for (const operation of [getDatabase, upgradeDatabase, deleteDatabase]) {
    expect(await isRefused(operation, 'db_member@2', '2')).toBe(false)
    expect(await isRefused(operation, 'db_member@2', '1')).toBe(true)
    expect(await isRefused(operation, 'db_member@2', '02e0')).toBe(false) // the same number, written otherwise
  }
  expect(await isRefused(upgradeDatabase, 'db_viewer@2', '2')).toBe(true)
  expect(await isRefused(createDatabase, 'db_member@2')).toBe(true)
  expect(await isRefused(listDatabases, 'db_viewer@2')).toBe(false)
  expect(await isRefused(listUsers, 'db_member@2')).toBe(true)
})

test('the older path of a module upgrade knows whose database it is, too', async () => {
  const { app } = serverWith()
  const { upgradeModulesOlder, upgradeModules } = operations
  for (const operation of [upgradeModules, upgradeModulesOlder]) {
    expect((await ask(app, operation, 'db_member@2', '2')).statusCode).not.toBe(403)
    expect((await ask(app, operation, 'db_member@2', '1')).statusCode).toBe(403)
  }
})

test('a user without admin rights may send only so many changes a second; reads are free, and other users are not held up', async () => {
  const { app } = serverWith()
  const change = async (token: string) => (await ask(app, operations.deleteDatabase, token)).statusCode
  let refused = await ask(app, operations.deleteDatabase, 'db_member')
  let before = 0
  while (refused.statusCode === 500 && before < 2_000) {
    before += 1 // it came through to the handler
    refused = await ask(app, operations.deleteDatabase, 'db_member')
  }
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '1'])
  expect(before).toBeGreaterThanOrEqual(600)
  expect((await ask(app, operations.getDatabase, 'db_member')).statusCode).toBe(500)
  expect(await change('admin')).toBe(500) // the same number here, and free
})

test('users reach their own record without a permission, and no other', async () => {
  const { app } = serverWith()
  for (const operation of [operations.getUser, operations.updateUser]) {
    expect((await ask(app, operation, 'none', '9')).statusCode).not.toBe(403)
    expect((await ask(app, operation, 'none', '8')).statusCode).toBe(403)
  }
  expect((await ask(app, operations.deleteUser, 'none', '9')).statusCode).toBe(403)
})

test('an unknown role may do nothing', async () => {
  const { app } = serverWith()
  expect((await ask(app, operations.listDatabases, 'emperor')).statusCode).toBe(403)
})

test('a bug is answered with an id to quote, without its reason', async () => {
  const { app, lines } = serverWith()
  const answer = await ask(app, operations.getDatabase, 'admin')
  expect(answer.statusCode).toBe(500)
  expect(answer.body).not.toContain('secret')
  const [id] = /[0-9a-f-]{36}/.exec(answer.json().message) ?? []
  expect(lines.map((line) => JSON.parse(line).request)).toEqual([id])
  expect(answer.headers['x-request-id']).toBe(id)
})

// invariant: An undeclared field is never sent.
test('an undeclared field is never sent', async () => {
  const { app } = serverWith(async () => ({ uid: 1, name: 'a', adminPassword: 'hidden' }) as never)
  expect((await ask(app, operations.getDatabase, 'admin')).body).not.toContain('hidden')
})

test('answers must not be cached, except those that declare it', async () => {
  const { app } = serverWith(async () => ({ keys: [] }) as never)
  expect((await ask(app, operations.getJwks, '')).headers['cache-control']).toBe('public, max-age=300')
  const refused = await ask(app, operations.listUsers, '')
  expect(refused.headers).toMatchObject({
    'cache-control': 'no-store',
    'www-authenticate': ['Bearer realm="fairlead"', 'Basic realm="fairlead", charset="UTF-8"'],
  })
})

test('a request whose fields are all optional may come without a body, one that needs some may not', async () => {
  const { app } = serverWith()
  const send = (url: string) =>
    app.inject({ method: 'POST', url, headers: { authorization: 'Bearer admin' } })
  expect((await send('/v1/bdbs/1/upgrade')).statusCode).toBe(500) // it came through to the handler
  expect((await send('/v1/bdbs')).statusCode).toBe(400)
})

test('where a change may be done although it failed, the answer keeps the whole problem, and has another way out', async () => {
  const problem = 'no port is free: 5000 to 5010 are taken; 5011 is reserved'
  const cause = new Refusal('unavailable', problem, { wayOut: 'try again' })
  for (const [error, answer] of [
    [cause, { error_code: 'unavailable', message: `${problem}; try again` }],
    [
      Object.assign(new Error('after', { cause }), { code: 'FAILED_AFTER_COMMIT' }),
      {
        error_code: 'outcome_unknown',
        message: expect.stringMatching(`^${problem}; what was asked for may`),
      },
    ],
  ] as const) {
    const { app } = serverWith(() => Promise.reject(error))
    const headers = { authorization: 'Bearer admin' }
    const got = await app.inject({ method: 'DELETE', url: '/v1/bdbs/1', headers })
    expect([got.statusCode, got.json()]).toEqual([503, answer])
  }
})

test('a server whose epoch an agent refuses says that another one takes over, not that the agent is away', async () => {
  const { app } = serverWith(() => Promise.reject(new StaleEpoch('bucket 1 is held under epoch 824')))
  const headers = { authorization: 'Bearer admin' }
  const got = await app.inject({ method: 'DELETE', url: '/v1/bdbs/1', headers })
  const message = 'another server takes over the database right now; try again'
  expect([got.statusCode, got.json()]).toEqual([503, { error_code: 'unavailable', message }])
})

test('while the agent does not answer, each operation that needs it says so, without a path of this machine', async () => {
  const { app, lines } = serverWith(() =>
    Promise.reject(new AgentUnreachable('the agent does not answer: connect ENOENT /a/secret/path')),
  )
  for (const operation of [
    operations.upgradeDatabase,
    operations.updateDatabase,
    operations.createDatabase,
  ]) {
    expect(operation.errors).toContain('unavailable')
    const { method, path } = operation
    const body = { name: 'a', memory_size: 0 }
    const { statusCode, body: answer } = await app.inject({
      method,
      url: path.replace(/:\w+/g, '1'),
      headers: { authorization: 'Bearer admin' },
      payload: operation === operations.createDatabase ? body : {},
    })
    expect([statusCode, JSON.parse(answer)]).toEqual([
      503,
      { error_code: 'unavailable', message: 'the agent does not answer right now; try again' },
    ])
  }
  expect(lines.join('')).toContain('/a/secret/path')
})

test.each([
  ['from-a-program.7', 'from-a-program.7'],
  ['a'.repeat(65), expect.stringMatching(/^[0-9a-f-]{36}$/)],
  ['with "quotes"', expect.stringMatching(/^[0-9a-f-]{36}$/)],
  [undefined, expect.stringMatching(/^[0-9a-f-]{36}$/)],
])('an answer names its request: %s', async (sent, answered) => {
  const { app } = serverWith()
  for (const url of ['/v1/bdbs', '/v1/nothing-here', '/v1/bdbs/x']) {
    const headers = sent === undefined ? {} : { 'x-request-id': sent }
    expect((await app.inject({ url, headers })).headers['x-request-id']).toEqual(answered)
  }
})

test('the work of a request has its id, and a request that begins an action is logged with both ids', async () => {
  const ids: (string | undefined)[] = []
  const { app, lines } = serverWith(async () => {
    ids.push(currentRequestId())
    return { action_uid: 'the-action' } as never
  })
  const headers = { authorization: 'Bearer admin', 'x-request-id': 'mine' }
  await app.inject({ method: 'DELETE', url: '/v1/bdbs/1', headers })
  await app.inject({ method: 'GET', url: '/v1/actions/1', headers })
  expect(ids).toEqual(['mine', 'mine'])
  expect(lines.map((line) => JSON.parse(line)).filter(({ action }) => action !== undefined)).toMatchObject([
    { request: 'mine', action: 'the-action', method: 'DELETE', route: '/v1/bdbs/:uid' },
  ])
})

test('a server without a free file for a connection goes on, and logs it', async () => {
  const { app, lines } = serverWith()
  await app.listen({ host: '127.0.0.1', port: 0 })
  // What Node does when accept(2) fails.
  app.server.emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' }))
  expect(lines.join('')).toContain('a connection could not be accepted')
  await app.close()
})
