import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { operations } from '@fairlead/api'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createSecretBox, readStoreKey } from '../../../../src/store/secret-box.ts'
import { adminPassword, basic, startControlPlane, type TestControlPlane } from '../../../control-plane.ts'

let fairlead: TestControlPlane
beforeEach(async () => {
  fairlead = await startControlPlane()
})
afterEach(() => fairlead[Symbol.asyncDispose]())

const filesOf = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

// invariant: No answer, log or file of the server holds a password, token or key in the open.
test('no password, token or key is logged, answered or left in a file', async () => {
  const admin = await fairlead.signIn('admin', adminPassword)
  const secrets = ['wrong-w9Qx', 'first-w9Qx', 'second-w9Qx', 'third-w9Qx', 'fourth-w9Qx', adminPassword]
  const [wrong, first, second, third, fourth] = secrets
  const answers: string[] = []
  const send = async (method: string, path: string, auth: string, body?: unknown) => {
    const answer = await fairlead.send(method, path, { auth, ...(body !== undefined && { body }) })
    answers.push(JSON.stringify(answer.body))
    return answer.body
  }
  await send('POST', '/v1/users', admin, { name: 'mia', password: first, email: 'mia@example.org' })
  const mia = await fairlead.signIn('mia', first ?? '')
  await send('POST', '/v1/users/password', mia, { new_password: second, old_password: first })
  await send('PUT', '/v1/users/password', mia, { new_password: third, old_password: wrong })
  await send('DELETE', '/v1/users/password', mia, { old_password: first })
  await send('PUT', '/v1/users/2', admin, { password: fourth, name: 1 })
  await send('PUT', '/v1/users/2', admin, { password: fourth })
  await send('GET', '/v1/bdbs', basic('mia', fourth ?? ''))
  await send('GET', '/v1/bdbs', basic('mia', wrong ?? ''))
  await send('GET', '/v1/logs', admin)
  await send('POST', '/v1/users/authorize', '', { username: 'mia', password: wrong, ttl: 'x' })
  await send('POST', '/v1/users/authorize', '', `{"username": "mia", "password": "${wrong}"`)
  await send('POST', '/v1/users/authorize', '', { username: { password: wrong }, password: [wrong] })
  await send('POST', '/v1/bdbs', admin, {
    name: 'a',
    memory_size: 0,
    authentication_engine_pass: fourth,
    x: wrong,
  })
  for (const { method, path } of Object.values(operations))
    await send(method, path.replace(/:\w+/g, '1'), mia)
  await fairlead.restart()

  const tokens = [admin, mia].map((auth) => auth.split('.').at(-1) ?? '')
  const said = [...fairlead.logged, ...answers].join('\n')
  const kept = filesOf(fairlead.home).map((file) => readFileSync(file, 'latin1'))
  for (const secret of [...secrets, ...tokens, ...secrets.map((one) => basic('mia', one).slice(6))]) {
    expect(said).not.toContain(secret)
    for (const content of kept) expect(content).not.toContain(secret)
  }
  expect(said).not.toContain('$argon2id')
})

test('files are readable by their owner only, and private keys only with the key of the store', async () => {
  const key = readStoreKey(join(fairlead.home, 'store.key'))
  await fairlead.withStore(async ({ db }) => {
    const [row] = await db.selectFrom('signing_keys').selectAll().execute()
    const jwk = JSON.parse(createSecretBox(key).open(row?.private_jwk ?? '', `signing key ${row?.kid}`))
    for (const file of filesOf(fairlead.home)) expect(readFileSync(file, 'latin1')).not.toContain(jwk.d)
  })
  for (const file of filesOf(fairlead.home)) expect([file, statSync(file).mode & 0o077]).toEqual([file, 0])
})
