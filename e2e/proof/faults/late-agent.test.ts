import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { build } from '../../../proof/engine-pairs.ts'
import { asAdmin } from '../../../proof/roles.ts'
import { startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'

const GROUPS = 3
/** A forgotten engine of this build announces itself again after 5 s. */
const BUILD = build('valkey', '8.1')
const LATE_MS = 9_000

test('if the agent is late to end old primaries, the new ones still know each other all the time', async () => {
  await using fairlead = await startFairlead({
    serverMain: join(import.meta.dirname, '../../support/crash-main.ts'),
  })
  const { api, server, home } = fairlead
  const { uid, action_uid } = await api.createDatabase({
    body: { name: 'late', memory_size: 0, engine_version: BUILD, shards_count: GROUPS },
  })
  await fairlead.untilEnded(action_uid)
  await server.end('SIGTERM')
  const log = join(home, 'stalls')
  const stall = { at: 'before remove-shard', who: 'agent', ms: LATE_MS }
  await server.start({ STALLS: JSON.stringify([stall]), STALL_LOG: log })
  const body = { force_restart: true, canary: false }
  const { action_uid: upgrade = '' } = await api.upgradeDatabase({ params: { uid }, body })
  await until('the agent is stopped', () => Promise.resolve(existsSync(log)))

  const shards = await api.listDatabaseShards({ params: { uid } })
  const primaries = shards.filter(({ role }) => role === 'master').map((shard) => Number(shard.uid))
  expect(primaries).toHaveLength(GROUPS)
  const engines = await Promise.all(primaries.map((shard) => asAdmin(fairlead, shard)))
  const ids = await Promise.all(engines.map(async (engine) => String(await engine.call('CLUSTER', 'MYID'))))
  await until('the upgrade has ended', async () => {
    for (const engine of engines) {
      const nodes = String(await engine.call('CLUSTER', 'NODES'))
      expect(ids.filter((id) => !nodes.includes(id))).toEqual([])
    }
    return (await api.getAction({ params: { uid: upgrade } })).status !== 'active'
  })
  for (const engine of engines) engine[Symbol.dispose]()
  expect(await api.getAction({ params: { uid: upgrade } })).toMatchObject({ status: 'completed' })
})
