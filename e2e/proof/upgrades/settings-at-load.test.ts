import { connectEngine, type EngineConnection, numberOf, readInfo } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { createDatabase } from '../../../proof/create-database.ts'
import { build, usualPair } from '../../../proof/engine-pairs.ts'
import { asAdmin } from '../../../proof/roles.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'

const { from, to } = usualPair()
const HASHES = 1_000
const NAME = 'hash-max-listpack-entries'

test.each([1, 2])(
  'what decides how compact data is stays set in upgrades, and its memory does not grow (%i groups)',
  async (shards_count) => {
    await using fairlead = await startFairlead()
    // In another form the data take 55 MB.
    const body = { name: 'compact', memory_size: 40_000_000, replication: true, shards_count }
    const database = await createDatabase(fairlead, { ...body, engine_version: from })
    const { uid } = database
    await atPrimaries(fairlead, uid, (admin) => admin.call('CONFIG', 'SET', NAME, '2000'))
    await fill(database)
    const before = await usedBytes(fairlead, uid)
    for (const engine_version of [to, build('valkey', '9')]) {
      const { action_uid = '' } = await fairlead.api.upgradeDatabase({
        params: { uid },
        body: { engine_version },
      })
      const ended = await fairlead.untilEnded(action_uid)
      expect(ended).toMatchObject({ status: 'completed', warnings: [] })
      expect(await usedBytes(fairlead, uid)).toBeLessThan(before * 1.2)
      const values = await atPrimaries(fairlead, uid, (admin) => admin.call('CONFIG', 'GET', NAME))
      expect(values).toEqual(Array(shards_count).fill([NAME, '2000']))
    }
  },
)

async function fill({ port, password }: { readonly port: number; readonly password: string }): Promise<void> {
  const login = { username: 'default', password }
  const address = { host: '127.0.0.1', port }
  using client = await connectEngine({ address, login, commandTimeoutMs: 60_000 })
  const fields = Array.from({ length: 1_000 }, (_, n) => [`f${n}`, `v${n}`]).flat()
  for (let n = 0; n < HASHES; n += 1) await client.call('HSET', `hash-${n}`, ...fields)
}

/** Adds up the memory of all primaries, without what replication takes. */
async function usedBytes(fairlead: Fairlead, uid: number): Promise<number> {
  const each = await atPrimaries(fairlead, uid, async (admin) => {
    const memory = readInfo(await admin.info('memory'))
    return numberOf(memory, 'used_memory') - numberOf(memory, 'mem_replication_backlog')
  })
  return each.reduce((sum, bytes) => sum + bytes, 0)
}

async function atPrimaries<T>(
  fairlead: Fairlead,
  uid: number,
  act: (admin: EngineConnection) => Promise<T>,
): Promise<readonly T[]> {
  const done: T[] = []
  for (const shard of await fairlead.api.listDatabaseShards({ params: { uid } })) {
    using admin = await asAdmin(fairlead, Number(shard.uid))
    const role = await admin.call('ROLE')
    if (Array.isArray(role) && role[0] === 'master') done.push(await act(admin))
  }
  return done
}
