import type { Build } from '@fairlead/api'
import type { Database, ShardRecord } from './database.ts'
import { type Runs, revisionOf, runsOf } from './goal.ts'

/** A build that serves, and the number of its primaries. */
export interface ServingBuild extends Build {
  readonly primaries: number
}

type Groups = Pick<Database, 'groups'>
type Shards = readonly Pick<ShardRecord, 'id' | 'runs'>[]

/** Returns the builds of the primaries, the most frequent first: several only while groups differ. */
export function servingBuilds(database: Groups, shards: Shards): readonly ServingBuild[] {
  const builds = primaryRuns(database, shards).map(({ build }) => build)
  return [...Map.groupBy(builds, ({ flavour, version }) => `${flavour}-${version}`).values()]
    .map((same) => ({ ...(same[0] as Build), primaries: same.length })) // no group is empty
    .toSorted((a, b) => b.primaries - a.primaries)
}

/**
 * Returns a database with the runs that clients get: those of its primaries if they agree, otherwise those on
 * record. They differ from the record from a handover until the upgrade is finalized or rolled back.
 */
export function asServed<Recorded extends Runs & Groups>(database: Recorded, shards: Shards): Recorded {
  const [first, ...others] = primaryRuns(database, shards)
  if (first === undefined || others.some((runs) => revisionOf(runs) !== revisionOf(first))) return database
  return { ...database, ...runsOf(first) }
}

function primaryRuns({ groups }: Groups, shards: Shards): readonly Runs[] {
  return groups.flatMap(({ primaryShard }) => shards.find(({ id }) => id === primaryShard)?.runs ?? [])
}
