import { setTimeout as pause } from 'node:timers/promises'
import type { EngineConnection } from '@fairlead/engine'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { build } from '../../../proof/engine-pairs.ts'
import { asAdmin } from '../../../proof/roles.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'

let fairlead: Fairlead
beforeAll(async () => {
  fairlead = await startFairlead()
})
afterAll(() => fairlead[Symbol.asyncDispose]())

const [from, to] = [build('valkey', '8.0'), build('valkey', '8.1')]
const TOO_SMALL = 'replica 4194304 0 0'

// invariant: Limits that a person has set on an engine are restored after a full sync.
test('a database that writes more during a full sync than its primary may hold back is still upgraded, and keeps its former limit', async () => {
  const { uid, action_uid } = await fairlead.api.createDatabase({
    body: { name: 'writes-much', memory_size: 0, engine_version: from },
  })
  await fairlead.untilEnded(action_uid)
  using admin = await asAdmin(fairlead, 1)
  for (let n = 0; n < 100; n += 1) await admin.call('SET', `big:${n}`, 'x'.repeat(1_000_000))
  // Engines let a replica be behind by the size of the backlog, whatever the limit is.
  await admin.call('CONFIG', 'SET', 'repl-backlog-size', 4_194_304)
  await admin.call('CONFIG', 'SET', 'client-output-buffer-limit', TOO_SMALL)
  // A sync takes at least a second, like that of a larger database.
  await admin.call('CONFIG', 'SET', 'rdb-key-save-delay', 10_000)

  const ended = new AbortController()
  const writing = write(ended.signal)
  const upgrade = await fairlead.api.upgradeDatabase({
    params: { uid },
    body: { engine_version: to },
  })
  // If a server dies meanwhile, the next server knows the limit that an operator had set.
  await until('its limit is raised', async () => (await limitOf(admin)) !== TOO_SMALL)
  await fairlead.server.end('SIGKILL')
  await fairlead.server.start()
  const action = await fairlead.untilEnded(upgrade.action_uid).finally(() => ended.abort())
  expect(await writing).toBeGreaterThan(20)
  expect(action).toMatchObject({ status: 'completed', warnings: [] })
  expect(action.certificates.map(({ full_syncs }) => full_syncs)).toEqual([0])

  // The raised limit does not move with the role: the operator's own limit does, and is restored at the old
  // primary.
  using primary = await asAdmin(fairlead, 2)
  expect(await limitOf(primary)).toBe(TOO_SMALL)
})

/** The limit of the class of replicas, as CONFIG SET takes it. */
async function limitOf(admin: EngineConnection): Promise<string> {
  const text = String(await admin.call('CONFIG', 'GET', 'client-output-buffer-limit'))
  return `replica ${/(?:slave|replica) (\d+ \d+ \d+)/.exec(text)?.[1]}`
}

/**
 * Writes about twenty megabytes a second at most, until it is told to end; answers how many writes the
 * primary took.
 */
async function write(signal: AbortSignal): Promise<number> {
  let count = 0
  using admin = await asAdmin(fairlead, 1)
  const value = 'y'.repeat(250_000)
  while (!signal.aborted) {
    const some = [0, 1, 2, 3].map((n) => admin.call('SET', `hot:${n}`, value))
    for (const each of await Promise.allSettled(some)) count += each.status === 'fulfilled' ? 1 : 0
    await pause(50)
  }
  return count
}
