import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { createDatabase } from '../../../proof/create-database.ts'
import { type BuildName, build } from '../../../proof/engine-pairs.ts'
import { enginesFolder } from '../../../proof/engines-folder.ts'
import { startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'
import { untilAction } from '../../../proof/way-back.ts'

const from = build('redis', '7.0')
const to = build('valkey', '8.1')
const CLIENTS = 25
const COUNTERS = 1_000
/** Enough requests for some seconds, so that the role moves while they run. */
const loads = [
  { program: 'redis-benchmark', of: from, pipeline: 1, requests: 40_000 },
  { program: 'valkey-benchmark', of: to, pipeline: 16, requests: 400_000 },
]

test('the engines’ own benchmarks, one request at a time and 16, do not notice an upgrade, and each INCR counts once', async () => {
  await using fairlead = await startFairlead()
  const { api } = fairlead
  const body = { name: 'benchmarked', memory_size: 0, engine_version: from }
  const { uid, port, password } = await createDatabase(fairlead, body)
  const { action_uid: action = '' } = await api.upgradeDatabase({
    params: { uid },
    body: { engine_version: to, supervised: true, rollback_window: 0 },
  })
  await untilAction(
    fairlead,
    action,
    'it waits for the order before the role moves',
    (seen) => seen.needs_person,
  )

  const running = loads.map((load) => runBenchmark(load, { port, password }))
  const commands = async () => (await api.getEndpointStats({ params: { uid } })).commands
  const atFirst = await commands()
  await until('both are at work', async () => {
    const { connections } = await api.getEndpointStats({ params: { uid } })
    return connections >= 2 * CLIENTS && (await commands()) > atFirst + 2_000
  })
  await api.resumeAction({ params: { uid: action } })
  const { status, certificates } = await fairlead.untilEnded(action)
  expect(status).toBe('completed')
  const movedAt = Date.parse(certificates[0]?.at ?? '')

  for (const { said, beganAt, endedAt } of await Promise.all(running)) {
    expect(said).not.toMatch(/error|closed|READONLY/i)
    expect(beganAt).toBeLessThan(movedAt)
    expect(endedAt).toBeGreaterThan(movedAt)
  }
  const client = new Redis({ host: '127.0.0.1', port, username: 'default', password })
  await using _ = { [Symbol.asyncDispose]: async () => client.disconnect() }
  const names = await client.keys('counter:*')
  const counts = (await client.mget(names)).map(Number)
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(
    loads.reduce((sum, { requests }) => sum + requests, 0),
  )
})

/**
 * Runs a program to its end. Answers what it printed, on both channels; throws when it ends with an error.
 */
async function runBenchmark(
  load: {
    readonly program: string
    readonly of: BuildName
    readonly pipeline: number
    readonly requests: number
  },
  { port, password }: { readonly port: number; readonly password: string },
) {
  const options = {
    '-p': port,
    '--user': 'default',
    '-a': password,
    '-t': 'incr',
    '-c': CLIENTS,
    '-r': COUNTERS,
    '-P': load.pipeline,
    '-n': load.requests,
  }
  const program = join(enginesFolder(), load.of, 'bin', load.program)
  const beganAt = Date.now()
  const { stdout, stderr } = await promisify(execFile)(program, [
    ...Object.entries(options).flat().map(String),
    '--csv',
  ])
  return { said: stdout + stderr, beganAt, endedAt: Date.now() }
}
