import { readReplication } from '@fairlead/engine'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildsOfEachLine } from '../../../proof/engine-pairs.ts'
import { freshName } from '../../../proof/fresh-name.ts'
import { asAdmin } from '../../../proof/roles.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'

let fairlead: Fairlead
beforeAll(async () => {
  fairlead = await startFairlead()
})
afterAll(() => fairlead[Symbol.asyncDispose]())

describe('a database with replicas counts as created when they receive writes, not up to a second before', () => {
  const builds = buildsOfEachLine()
  const sharded = builds.slice(-1).map((build) => [build, 2] as const)
  for (const [engine_version, groups] of [...builds.map((build) => [build, 1] as const), ...sharded])
    test(`${engine_version}, ${groups} group(s)`, async () => {
      const { uid, action_uid } = await fairlead.api.createDatabase({
        body: {
          name: freshName('stream'),
          memory_size: 0,
          replication: true,
          shards_count: groups,
          engine_version,
        },
      })
      expect(await fairlead.untilEnded(action_uid)).toMatchObject({ status: 'completed' })
      const shards = await fairlead.api.listDatabaseShards({ params: { uid } })
      const primaries = shards.filter(({ role }) => role === 'master')
      const replicas = await Promise.all(
        primaries.map(async (shard) => {
          using primary = await asAdmin(fairlead, Number(shard.uid))
          return readReplication(await primary.info('replication')).replicas
        }),
      )
      // What a primary reports of a replica to which it sends no stream yet: online at best, and offset 0.
      expect(replicas.flat().map(({ online, offset }) => online && offset > 0)).toEqual(
        primaries.map(() => true),
      )
    })
})
