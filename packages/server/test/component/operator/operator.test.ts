import { statSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { operatorSocket } from '../../../src/config/sockets.ts'
import { connectOperator, type OperatorLink, ServerUnreachable } from '../../../src/operator/operator-link.ts'
import { adminPassword, startControlPlane, type TestControlPlane } from '../../control-plane.ts'

let fairlead: TestControlPlane
let operator: OperatorLink
beforeEach(async () => {
  fairlead = await startControlPlane()
  operator = connectOperator(fairlead.home)
})
afterEach(() => fairlead[Symbol.asyncDispose]())

test('the socket is its owner’s alone, and is not the API', async () => {
  expect(statSync(operatorSocket(fairlead.home)).mode & 0o777).toBe(0o600)
  expect((await fairlead.send('GET', '/v1/signing_keys')).status).toBe(404)
  expect(
    (await fairlead.send('POST', '/v1/users/reset_password', { body: { username: 'admin' } })).status,
  ).toBe(404)
})

test('the operator of the machine lets in again a user who is locked, disabled or has forgotten the password', async () => {
  const auth = await fairlead.signIn('admin', adminPassword)
  for (let n = 0; n < 5; n += 1) {
    await fairlead.send('POST', '/v1/users/authorize', { body: { username: 'admin', password: 'wrong' } })
  }
  await expect(fairlead.signIn('admin', adminPassword)).rejects.toThrow('invalid_credentials')
  const { password } = await operator.resetPassword({ body: { username: 'ADMIN' } })
  await fairlead.signIn('admin', password)
  expect((await fairlead.send('GET', '/v1/users', { auth })).status).toBe(401)
  await expect(operator.resetPassword({ body: { username: 'nobody' } })).rejects.toThrow(
    'there is no user nobody',
  )
})

test('the operator of the machine rotates the keys, and drops them when they may be known to others', async () => {
  const auth = await fairlead.signIn('admin', adminPassword)
  const status = async () => (await fairlead.send('GET', '/v1/users', { auth })).status
  const { keys: before } = await operator.listSigningKeys({})
  const { keys: after } = await operator.rotateSigningKeys({ body: { drop_all: false } })
  const kidOf = (keys: typeof before, state: string) => keys.find((key) => key.state === state)?.kid
  expect(kidOf(after, 'active')).toBe(kidOf(before, 'next'))
  expect(kidOf(after, 'retired')).toBe(kidOf(before, 'active'))
  expect(await status()).toBe(200)
  const { keys: fresh } = await operator.rotateSigningKeys({ body: { drop_all: true } })
  expect(fresh.map(({ kid }) => kid).filter((kid) => after.some((key) => key.kid === kid))).toEqual([])
  expect(await status()).toBe(401)
})

test('without a running server, the commands say so', async () => {
  await expect(connectOperator(`${fairlead.home}/elsewhere`).listSigningKeys({})).rejects.toThrow(
    ServerUnreachable,
  )
})
