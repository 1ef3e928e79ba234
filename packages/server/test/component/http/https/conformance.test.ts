import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { claimPorts } from '../../../../../../proof/claim-ports.ts'
import { adminPassword, basic, startControlPlane } from '../../../control-plane.ts'
import { type HttpsClient, httpsClient } from '../../../https-client.ts'

/*
 * The specification's three operations over HTTPS, field by field by its tables. Without a database, valid
 * requests are answered 404.
 */

const page = readFileSync(
  new URL('../../../../../../docs/reference/specification.md', import.meta.url),
  'utf8',
)

const opened = new AsyncDisposableStack()
let client: HttpsClient
let auth: string
beforeAll(async () => {
  const port = opened.use(await claimPorts()).from
  const fairlead = opened.use(await startControlPlane({ httpsPort: port }))
  client = opened.use(httpsClient(port, readFileSync(join(fairlead.home, 'ca.pem'), 'utf8')))
  auth = await fairlead.signIn('admin', adminPassword)
})
afterAll(() => opened.disposeAsync())

/** Fields and types of a table. */
function fieldsOf(heading: string): readonly (readonly [field: string, type: string])[] {
  const part = page.split(`### ${heading}`)[1]?.split(/\n##/)[0] ?? ''
  return [...part.matchAll(/^\| (\w+) \| ([\w ().]+?) \|/gm)]
    .map(([, field = '', type = '']) => [field, type] as const)
    .filter(([field]) => field !== 'Field')
}

/** By the type of the specification: values that are one, and values that are none. */
const values: Readonly<Record<string, readonly [good: readonly unknown[], bad: readonly unknown[]]>> = {
  boolean: [
    [true, false],
    ['true', 1, [], {}],
  ],
  integer: [
    [1, 2],
    ['1', 1.5, true, {}],
  ],
  string: [['admin'], [1, true, [], {}]],
  'version number': [
    ['8.0', '7.0.15'],
    [8, true, {}],
  ],
  list: [
    [[], ['PARTITIONS', 'AUTO']],
    [1, true, {}],
  ],
  'string uid': [['0123456789abcdef0123456789abcdef'], [1, true, {}]],
  'string or integer uid': [
    ['0123456789abcdef0123456789abcdef', 7],
    [true, {}, 1.5],
  ],
  'list of module upgrade entries': [
    [[], [{ module_name: 'search' }]],
    ['search', 1, {}],
  ],
  'list of module upgrade entries (2.4)': [[[{ module_name: 'search' }]], ['search', 1, {}, []]],
}

/** How a field stands in a body that is whole otherwise. */
interface Place {
  readonly heading: string
  readonly path: string
  readonly body: (field: string, value: unknown) => unknown
  readonly name: (field: string) => string
  /** Of a body that is understood. */
  readonly status: number
}
const login = { username: 'admin', password: adminPassword }
const plain = (field: string) => field
const places: readonly Place[] = [
  {
    heading: '2.3 ',
    path: '/v1/bdbs/1/upgrade',
    status: 404,
    name: plain,
    body: (field, value) => ({ [field]: value }),
  },
  {
    heading: '2.4 ',
    path: '/v1/bdbs/1/upgrade',
    status: 404,
    name: (field) => `modules.0.${field}`,
    body: (field, value) => ({ modules: [{ current_module: 'a', new_module: 'b', [field]: value }] }),
  },
  {
    heading: '2.5 ',
    path: '/v1/bdbs/1/modules/upgrade',
    status: 404,
    name: plain,
    body: (field, value) => ({ modules: [{ module_name: 'search' }], [field]: value }),
  },
]

for (const { heading, path, body, name, status } of places)
  describe(`each field of ${heading}at ${path}`, () => {
    const fields = fieldsOf(heading)
    test.each(fields)(
      '%s, a %s, is understood, and what is none is refused by its name',
      async (field, type) => {
        const [good = [], bad = []] = values[type] ?? []
        expect([type, good.length > 0]).toEqual([type, true])
        for (const value of good) {
          const heard = await client.send('POST', path, { auth, body: body(field, value) })
          expect([value, heard.status, heard.body['error_code']]).toEqual([value, status, 'db_not_exist'])
        }
        for (const value of bad) {
          const heard = await client.send('POST', path, { auth, body: body(field, value) })
          expect([value, heard.status, heard.body['error_code']]).toEqual([value, 400, 'invalid_request'])
          expect(heard.body['message']).toContain(name(field))
        }
      },
    )
  })

test('each field of 2.1 is required of a login, and its type is looked at', async () => {
  const fields = fieldsOf('2.1 ')
  expect(fields).toHaveLength(2)
  const ask = (body: unknown) => client.send('POST', '/v1/users/authorize', { body })
  for (const [field, type] of fields) {
    const { [field as keyof typeof login]: _, ...without } = login
    for (const body of [
      without,
      ...(values[type]?.[1] ?? []).map((value) => ({ ...login, [field]: value })),
    ]) {
      const { status, body: heard } = await ask(body)
      expect([status, heard['error_code']]).toEqual([400, 'invalid_request'])
      expect(heard['message']).toContain(field)
    }
  }
  expect(await ask(login)).toMatchObject({ status: 200, body: { access_token: expect.any(String) } })
})

test('statuses are those of the specification: 400, 401 and 404, each with an error object', async () => {
  const post = (path: string, body: unknown, authorization?: string) =>
    client.send('POST', path, { body, ...(authorization && { auth: authorization }) })
  const error = { error_code: expect.any(String), message: expect.any(String) }
  const rows = [
    [await post('/v1/users/authorize', { ...login, password: 'wrong' }), 401],
    [await post('/v1/users/authorize', []), 400],
    [await post('/v1/bdbs/1/upgrade', {}), 401],
    [await post('/v1/bdbs/1/upgrade', [], auth), 400],
    [await post('/v1/bdbs/1/upgrade', {}, auth), 404],
    [await post('/v1/bdbs/1/upgrade', {}, basic('admin', adminPassword)), 404],
    [await post('/v1/bdbs/x/upgrade', {}, auth), 404],
    [await post('/v1/bdbs/1/modules/upgrade', {}, auth), 400],
    [await post('/v1/bdbs/1/modules/upgrade', { modules: [{ module_name: 'a' }] }, auth), 404],
  ] as const
  for (const [{ status, body }, wanted] of rows) {
    expect(status).toBe(wanted)
    expect(body).toEqual({ ...error, ...(wanted === 400 && { obstacles: [expect.objectContaining(error)] }) })
  }
})
