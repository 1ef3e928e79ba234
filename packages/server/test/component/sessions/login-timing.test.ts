import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminPassword, startControlPlane, type TestControlPlane } from '../../control-plane.ts'

let fairlead: TestControlPlane
beforeAll(async () => {
  fairlead = await startControlPlane()
})
afterAll(() => fairlead[Symbol.asyncDispose]())

const ROUNDS = 60
/** Of a standard normal variable: one run in 30,000 is beyond it by chance. */
const FAR = 4.2

/** How far apart two samples lie, by their ranks (Mann and Whitney's U as a z score): outliers weigh no more than others. */
function distance(one: readonly number[], other: readonly number[]): number {
  const larger = one.flatMap((a) => other.map((b): number => (a > b ? 1 : a === b ? 0.5 : 0)))
  const u = larger.reduce((sum, n) => sum + n, 0)
  const [n, m] = [one.length, other.length]
  return (u - (n * m) / 2) / Math.sqrt((n * m * (n + m + 1)) / 12)
}

test('a failed login takes the same time for every reason: unknown, wrong, locked, disabled, expired, with one password or ten', async () => {
  const admin = await fairlead.signIn('admin', adminPassword, 86_400)
  const send = (method: string, path: string, body: object) =>
    fairlead.send(method, path, { auth: admin, body })
  const password = 'a-password-of-mine'
  const policy = (threshold: number) =>
    send('PUT', '/v1/cluster/policy', { login_lockout_threshold: threshold })
  await policy(1)
  for (const name of ['wrong', 'locked', 'disabled', 'many'])
    await send('POST', '/v1/users', { name, password })
  for (let n = 0; n < 9; n += 1) {
    await send('POST', '/v1/users/password', { username: 'many', new_password: `password-${n}` })
  }
  await send('PUT', '/v1/users/4', { disabled: true })
  await fairlead.send('POST', '/v1/users/authorize', { body: { username: 'locked', password: 'x' } })
  expect((await fairlead.send('GET', '/v1/users/3', { auth: admin })).body['status']).toBe('locked')
  // 'wrong' and 'many' are to fail without being locked, and 'locked' is to stay so; all passwords have expired.
  await policy(1_000)
  await send('PUT', '/v1/cluster', { password_expiration_duration: 1 })
  fairlead.pass({ days: 2 })

  const names = ['nobody', 'wrong', 'locked', 'disabled', 'many'] as const
  const times = new Map<string, number[]>(names.map((name) => [name, []]))
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [n] of names.entries()) {
      const name = names[(n + round) % names.length] ?? '' // none always comes after the same one
      const from = performance.now()
      const { status } = await fairlead.send('POST', '/v1/users/authorize', {
        body: { username: name, password: name === 'disabled' || name === 'locked' ? password : 'x' },
      })
      times.get(name)?.push(performance.now() - from)
      expect(status).toBe(401)
    }
  }
  const unknown = times.get('nobody') ?? []
  for (const [name, sample] of times)
    expect([name, Math.abs(distance(sample, unknown)) < FAR]).toEqual([name, true])

  // The measure works: it clearly finds an answer that saves two thirds of a hash, also on a busy machine, where hashes take longer.
  const quick = unknown.map((ms) => ms / 3)
  expect(distance(quick, unknown)).toBeLessThan(-FAR)
})
