/**
 * Does a failed login take the same time for every reason: unknown user, wrong password, locked, disabled,
 * ten passwords? `npm run bench -- login-timing [--rounds 60]` prints how far apart the samples lie (Mann and
 * Whitney's U as a z score), and ends with 1 when one lies further than chance explains once in 30,000 runs.
 */
import { parseArgs } from 'node:util'
import Table from 'cli-table3'
import { startFairlead } from '../../proof/start-fairlead.ts'

const { values: flags } = parseArgs({ options: { rounds: { type: 'string', default: '60' } } })
const names = ['nobody', 'wrong', 'locked', 'disabled', 'many'] as const
const password = 'a-password-of-mine'
const FAR = 4.2

await using fairlead = await startFairlead()
await addUsers()
const times = await measure(Number(flags.rounds))
const unknown = times.get('nobody') ?? []
const table = new Table({ head: ['login', 'median ms', 'z'] })
let isFar = false
for (const [name, sample] of times) {
  const z = distance(sample, unknown)
  isFar ||= Math.abs(z) >= FAR
  const median = sample.toSorted((a, b) => a - b)[Math.floor(sample.length / 2)] ?? 0
  table.push([name, median.toFixed(1), z.toFixed(2)])
}
process.stdout.write(`${table.toString()}\n`)
process.exitCode = isFar ? 1 : 0

async function addUsers(): Promise<void> {
  const lockAfter = (tries: number) => send('PUT', '/v1/cluster/policy', { login_lockout_threshold: tries })
  await lockAfter(1)
  for (const name of names.slice(1)) await send('POST', '/v1/users', { name, password })
  for (let n = 0; n < 9; n += 1)
    await send('POST', '/v1/users/password', { username: 'many', new_password: `password-${n}` })
  await send('PUT', '/v1/users/4', { disabled: true })
  await send('POST', '/v1/users/authorize', { username: 'locked', password: 'x' })
  await lockAfter(1_000)
}

async function send(method: string, path: string, body: object): Promise<number> {
  const headers = { authorization: `Bearer ${fairlead.token}`, 'content-type': 'application/json' }
  const answer = await fetch(new URL(path, fairlead.url), { method, headers, body: JSON.stringify(body) })
  await answer.arrayBuffer()
  return answer.status
}

/** Milliseconds of each login; none always comes after the same one. */
async function measure(rounds: number): Promise<ReadonlyMap<string, readonly number[]>> {
  const found = new Map<string, number[]>(names.map((name) => [name, []]))
  for (let round = 0; round < rounds; round += 1) {
    for (const [n] of names.entries()) {
      const username = names[(n + round) % names.length] ?? ''
      const given = username === 'disabled' || username === 'locked' ? password : 'x'
      const from = performance.now()
      const status = await send('POST', '/v1/users/authorize', { username, password: given })
      found.get(username)?.push(performance.now() - from)
      if (status !== 401) throw new Error(`${username} was answered with ${status}`)
    }
  }
  return found
}

/** How far apart two samples lie, by their ranks: outliers weigh no more than others. */
function distance(one: readonly number[], other: readonly number[]): number {
  const larger = one.flatMap((a) => other.map((b): number => (a > b ? 1 : a === b ? 0.5 : 0)))
  const u = larger.reduce((sum, n) => sum + n, 0)
  const [n, m] = [one.length, other.length]
  return (u - (n * m) / 2) / Math.sqrt((n * m * (n + m + 1)) / 12)
}
