import {
  type NeutralField,
  neutralChangeFields,
  neutralClusterFields,
  neutralCreationFields,
  neutralPolicies,
  neutralSettings,
} from '@fairlead/api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { adminPassword, startControlPlane, type TestControlPlane } from '../../control-plane.ts'

/*
 * The table of docs/reference/compatibility.md against the server: its values are accepted, others are
 * refused with the field's name. Without an agent, accepted requests end with 503 (a creation), 404 (a change
 * of a missing database) or 409 (another creation of the cluster).
 */

let fairlead: TestControlPlane
let auth: string
beforeAll(async () => {
  fairlead = await startControlPlane()
  auth = await fairlead.signIn('admin', adminPassword)
})
afterAll(() => fairlead[Symbol.asyncDispose]())

/** Another value than these, of the same type where there is one. */
function another([value, ...others]: readonly unknown[]): unknown {
  if (typeof value === 'boolean') return others.length === 0 ? !value : 'neither'
  if (typeof value === 'number') return value + 7
  if (Array.isArray(value)) return [{ other: 'x' }]
  return typeof value === 'string' ? 'something-else' : { other: 'x' }
}

/** A body with a value at the end of a path of names: "cluster.nodes". */
function bodyWith(base: object, name: string, value: unknown): object {
  const [first = '', ...rest] = name.split('.')
  if (rest.length === 0) return { ...base, [first]: value }
  const inner = (base as Readonly<Record<string, object>>)[first] ?? {}
  return { ...base, [first]: bodyWith(inner, rest.join('.'), value) }
}

const tables: readonly (readonly [string, string, object, readonly NeutralField[], number])[] = [
  ['POST', '/v1/bdbs', { name: 'orders', memory_size: 1 << 30 }, neutralCreationFields, 503],
  ['PUT', '/v1/bdbs/1', {}, neutralChangeFields, 404],
  ['PUT', '/v1/cluster', {}, neutralSettings, 200],
  ['PUT', '/v1/cluster/policy', {}, neutralPolicies, 200],
  [
    'POST',
    '/v1/bootstrap/create_cluster',
    { cluster: { name: 'a' }, credentials: { username: 'b', password: 'a-password-of-mine' } },
    neutralClusterFields,
    409,
  ],
]

describe.each(tables)('%s %s', (method, path, base, fields, status) => {
  const send = (body: object) => fairlead.send(method, path, { auth, body })

  test('takes each value of the table, and null', async () => {
    for (const { name, taken } of fields)
      for (const value of [...taken, null]) {
        const answer = await send(bodyWith(base, name, value))
        expect([name, value, answer.status, answer.body['message']]).toEqual([
          name,
          value,
          status,
          status === 200 ? undefined : expect.any(String),
        ])
      }
  })

  test('refuses another value, and names the field and the permitted values', async () => {
    for (const { name, taken, offered } of fields.filter(({ own }) => own !== true)) {
      const { status: refused, body } = await send(bodyWith(base, name, another(taken)))
      expect([name, refused, body['error_code']]).toEqual([name, 400, 'field_not_available'])
      expect(body['message']).toMatch(new RegExp(`^${name}: can only be `))
      expect(body['message']).toContain(offered)
    }
  })

  test('takes all of them at once, and names all that it refuses', async () => {
    const flat = fields.filter(({ name }) => !fields.some((other) => other.name.startsWith(`${name}.`)))
    const all = flat.reduce((body, { name, taken }) => bodyWith(body, name, taken[0]), base)
    expect((await send(all)).status).toBe(status)
    const plain = fields.filter(({ name, own }) => own !== true && !name.includes('.'))
    const { body } = await send(
      plain.reduce((so, { name, taken }) => bodyWith(so, name, another(taken)), base),
    )
    for (const { name } of plain) expect(body['message']).toContain(`${name}: can only be`)
  })
})
