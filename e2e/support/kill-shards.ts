import { expect } from 'vitest'
import { asAdmin, rolesOf } from '../../proof/roles.ts'
import type { Fairlead } from '../../proof/start-fairlead.ts'
import { until } from '../../proof/until.ts'

/** Creates a replicated database; answers its uid. */
export async function create(fairlead: Fairlead, fields: object = {}): Promise<number> {
  const { uid, action_uid } = await fairlead.api.createDatabase({
    body: { name: 'mended', memory_size: 0, replication: true, ...fields },
  })
  expect((await fairlead.untilEnded(action_uid)).status).toBe('completed')
  return uid
}

/** Kills the processes of shards as a machine would, at the moment of the last write, and all at once. */
export async function kill(fairlead: Fairlead, ...shards: readonly number[]): Promise<void> {
  const pids = await Promise.all(
    shards.map(async (shard) => {
      using admin = await asAdmin(fairlead, shard)
      return Number(/process_id:(\d+)/.exec(await admin.info('server'))?.[1])
    }),
  )
  for (const pid of pids) process.kill(pid, 'SIGKILL')
}

/** The shard that is the primary on record. */
export async function primaryOf(fairlead: Fairlead, uid: number): Promise<number> {
  const shards = await fairlead.api.listDatabaseShards({ params: { uid } })
  return Number(shards.find(({ role }) => role === 'master')?.uid)
}

/** Waits until a primary serves with a replica that has the stream. */
export const serves = (fairlead: Fairlead, uid: number) =>
  until('one primary with one linked replica', async () => {
    if ((await rolesOf(fairlead, uid)).join() !== 'primary,replica') return false
    using primary = await asAdmin(fairlead, await primaryOf(fairlead, uid))
    return (await primary.info('replication')).includes('state=online')
  })
