import type { Database, ShardRecord } from '../core/database.ts'
import type { Step } from '../core/topology.ts'
import { addShard, recordWish, restartShard, retireShard, startShard } from './carry-out-shards.ts'
import type { Deps } from './deps.ts'
import { handOver } from './hand-over.ts'
import { releaseHandover, sealHandover } from './seal-handover.ts'

/**
 * `not yet`: nothing went wrong and nothing is left half-done; look again, after `afterMs` where clients were held for
 * it. Trouble is thrown.
 */
export type Outcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'not yet'; readonly why: string; readonly afterMs?: number }

/** What a step works on. */
export interface Scene {
  readonly database: Database
  readonly members: readonly ShardRecord[]
  readonly actionUid: string | null
  readonly deps: Deps
  readonly signal: AbortSignal
}

type Carrier<Kind extends Step['kind']> = (
  step: Extract<Step, { kind: Kind }>,
  scene: Scene,
) => Promise<Outcome>

/** The table of hands: one for each kind of step. Leaving one out is a type error. */
const carriers: { readonly [Kind in Step['kind']]: Carrier<Kind> } = {
  'add-shard': addShard,
  'start-shard': startShard,
  'restart-shard': restartShard,
  'retire-shard': retireShard,
  'record-wish': recordWish,
  follow: async ({ shard, primary }, scene) => {
    const { host, port } = member(primary, scene)
    return command(shard, scene, 'REPLICAOF', host, port)
  },
  promote: async ({ shard }, scene) => command(shard, scene, 'REPLICAOF', 'NO', 'ONE'),
  fence: async ({ shards }, scene) => {
    for (const shard of shards) await command(shard, scene, 'CLIENT', 'PAUSE', FENCE_MS, 'WRITE')
    return done
  },
  'enable-aof': async ({ shard }, scene) => command(shard, scene, 'CONFIG', 'SET', 'appendonly', 'yes'),
  'hand-over': async (step, { database, members, actionUid, deps, signal }) => {
    const of = (id: number) => member(id, { members })
    const siblings = members.filter(({ id }) => id !== step.from && id !== step.to)
    return handOver({ database, from: of(step.from), to: of(step.to), siblings, actionUid }, deps, signal)
  },
  'release-handover': async (step, scene) => releaseHandover(step.primary, scene),
  'seal-handover': async (_, scene) => sealHandover(scene),
  'record-primary': async ({ shard }, { database, deps }) => {
    await deps.effect('record-primary', () => deps.databases.setPrimary(database.uid, shard))
    return done
  },
}

/** A fence is renewed each time a stuck database is looked at again, and ends by itself when nobody does. */
const FENCE_MS = 30_000

const done: Outcome = { kind: 'done' }

export function carryOut(step: Step, scene: Scene): Promise<Outcome> {
  // The table is keyed by the step's own kind, so this is the carrier for it.
  return (carriers[step.kind] as Carrier<Step['kind']>)(step, scene)
}

export function member(id: number, { members }: Pick<Scene, 'members'>): ShardRecord {
  const shard = members.find((one) => one.id === id)
  if (shard === undefined) throw new Error(`shard ${id} is not on record`)
  return shard
}

async function command(
  shard: number,
  { database, members, deps }: Scene,
  name: string,
  ...args: readonly (string | number)[]
): Promise<Outcome> {
  const connection = await deps.engines.connect(database, member(shard, { members }))
  await deps.effect(`${name} ${args[0] ?? ''}`.trim().toLowerCase(), () => connection.call(name, ...args))
  return done
}
