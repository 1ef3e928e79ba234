import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ShardSpec } from '@fairlead/api'
import { connectEngine, type EngineConnection, readReplication } from '@fairlead/engine'
import type { Fairlead } from './start-fairlead.ts'

/**
 * The roles of a database's shards as the engines report them, sorted; "silent" for one that does not answer.
 */
export async function rolesOf(fairlead: Fairlead, uid: number): Promise<readonly string[]> {
  const shards = await fairlead.api.listDatabaseShards({ params: { uid } })
  const roles = await Promise.all(
    shards.map(async (shard) => {
      try {
        // An engine that hangs is not waited for.
        using connection = await asAdmin(fairlead, Number(shard.uid), 2_000)
        return readReplication(await connection.info('replication')).role
      } catch {
        return 'silent'
      }
    }),
  )
  return roles.toSorted()
}

/** A connection as the administrative user, whose secret only the owner of the home can read. */
export function asAdmin({ home }: Fairlead, shard: number, withinMs = 20_000): Promise<EngineConnection> {
  const spec = specOf(home, shard)
  const login = { username: 'fairlead', password: spec.adminPassword }
  return connectEngine({ address: spec, login, connectTimeoutMs: withinMs, commandTimeoutMs: withinMs })
}

export function specOf(home: string, shard: number): ShardSpec {
  const { wish: spec } = JSON.parse(
    readFileSync(join(home, 'shards', `s${shard}`, 'wanted.json'), 'utf8'),
  ) as {
    wish: ShardSpec
  }
  return spec
}

/** The last lines of each shard's engine log, for the message of an assertion. */
export function lastWordsOf({ home }: Fairlead): string {
  return readdirSync(join(home, 'shards'))
    .map((shard) => {
      const lines = readFileSync(join(home, 'shards', shard, 'engine.log'), 'utf8')
        .trim()
        .split('\n')
      return [`${shard}:`, ...lines.slice(-12)].join('\n  ')
    })
    .join('\n')
}

/** The process of a shard's engine, as the engine itself names it. */
export async function pidOf(fairlead: Fairlead, shard: number): Promise<number> {
  using admin = await asAdmin(fairlead, shard)
  return Number(/process_id:(\d+)/.exec(await admin.info('server'))?.[1])
}
