import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'

/** While an engine starts, its database has a turn this often. */
const WAITS_MS = 250

test('a database is created in three turns, and one more each time that its engine has not come up a quarter of a second later', async () => {
  await using fairlead = await startFairlead()
  // The first one has to wait for the build, and for the proxy.
  await create('first', fairlead)
  const [before, began] = [await turnsOf(fairlead), performance.now()]
  await create('counted', fairlead)
  const waits = Math.ceil((performance.now() - began) / WAITS_MS)
  // One is the first turn at rest of the database before.
  expect((await turnsOf(fairlead)) - before).toBeLessThanOrEqual(4 + waits)
})

async function create(name: string, { api, untilEnded }: Fairlead): Promise<void> {
  const { action_uid } = await api.createDatabase({ body: { name, memory_size: 0 } })
  expect((await untilEnded(action_uid)).status).toBe('completed')
}

/** All turns of the server so far. */
async function turnsOf({ home, url }: Fairlead): Promise<number> {
  // A server of root has a user, and a folder, of its own.
  const places = ['server/own/metrics.token', 'metrics.token'].map((name) => join(home, name))
  const token = readFileSync(places.find((file) => existsSync(file)) ?? '', 'utf8').trim()
  const answer = await fetch(new URL('/metrics', url), { headers: { authorization: `Bearer ${token}` } })
  const lines = (await answer.text()).matchAll(/^fairlead_reconciler_turns_total\{.*\} (\d+)$/gm)
  return [...lines].reduce((sum, [, turns]) => sum + Number(turns), 0)
}
