import { type Operation, operations, permissions, roles } from '@fairlead/api'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { createHttp } from './create-http.ts'
import { mountOn } from './mount.ts'

const all: readonly Operation[] = Object.values(operations)

/** A server whose only token is the name of the role that it gives. */
function serverWith(handle: () => Promise<never> = () => Promise.reject(new Error('a secret in a stack'))) {
  const lines: string[] = []
  const log = pino({}, { write: (line: string) => void lines.push(line) })
  const app = createHttp({ whois: async (role) => ({ uid: 1, name: role, role, passwordHash: '' }), log })
  const mount = mountOn(app)
  for (const operation of all) mount(operation, handle)
  return { app, lines }
}

describe('a role may do what its permissions say, and nothing else', () => {
  for (const operation of all) {
    const { permission } = operation
    if (permission === null) continue
    test(`${operation.method} ${operation.path}`, async () => {
      const { app } = serverWith()
      const holders: readonly string[] = permissions[permission]
      for (const role of roles) {
        const answer = await app.inject({
          method: operation.method,
          url: operation.path.replace(/:\w+/, '1'),
          headers: { authorization: `Bearer ${role}` },
          ...(operation.body && { payload: {} }),
        })
        if (holders.includes(role)) expect(answer.statusCode).not.toBe(403)
        else expect([answer.statusCode, answer.json().error_code]).toEqual([403, 'forbidden'])
      }
    })
  }
})

test('a role that nobody knows may do nothing', async () => {
  const { app } = serverWith()
  expect(
    (await app.inject({ url: '/v1/bdbs', headers: { authorization: 'Bearer emperor' } })).statusCode,
  ).toBe(403)
})

test('a fault of ours is answered with an id to quote, and no word of what it was', async () => {
  const { app, lines } = serverWith()
  const answer = await app.inject({ url: '/v1/bdbs/1', headers: { authorization: 'Bearer admin' } })
  expect(answer.statusCode).toBe(500)
  expect(answer.body).not.toContain('secret')
  const [id] = /[0-9a-f-]{36}/.exec(answer.json().message) ?? []
  expect(lines.join('')).toContain(id)
})

test('what an answer does not declare never leaves', async () => {
  const { app } = serverWith(async () => ({ uid: 1, name: 'a', adminPassword: 'hidden' }) as never)
  const answer = await app.inject({ url: '/v1/bdbs/1', headers: { authorization: 'Bearer admin' } })
  expect(answer.body).not.toContain('hidden')
})

test('a request whose fields are all optional may come without a body, one that needs some may not', async () => {
  const { app } = serverWith()
  const send = (url: string) =>
    app.inject({ method: 'POST', url, headers: { authorization: 'Bearer admin' } })
  expect((await send('/v1/bdbs/1/upgrade')).statusCode).toBe(500) // it came through to the handler
  expect((await send('/v1/bdbs')).statusCode).toBe(400)
})
