import type { Action } from '@fairlead/api'
import { type Load, startLoad } from '@fairlead/ledger'
import type { Fairlead } from '../../proof/start-fairlead.ts'

export interface DatabaseToLoad {
  readonly build: string
  /** 1: not sharded. */
  readonly groups: number
  readonly replication: boolean
  readonly kind: 'set' | 'incr'
  /** Acknowledged writes a second to aim at; 0: as fast as possible. */
  readonly perSecond: number
  readonly valueBytes?: number
}

/** A database of Fairlead with clients that write to it, and record what was acknowledged. */
export interface LoadedDatabase extends AsyncDisposable {
  readonly uid: number
  readonly load: Load
  /** The place in `load.groups` of the group that each shard belonged to at first, by the shard's uid. */
  readonly groupOfShard: ReadonlyMap<string, number>
  /**
   * Upgrades it. `ms` is from the request to the end of the action as the API tells it, looked at every 20
   * ms. Throws when the upgrade does not complete.
   */
  upgrade(request: UpgradeRequest): Promise<{ readonly action: Action; readonly ms: number }>
  /** Stops the load and reads all that was acknowledged back: from the primaries, and from each replica. */
  verdict(): Promise<Checked>
}

type UpgradeRequest = NonNullable<Parameters<Fairlead['api']['upgradeDatabase']>[0]['body']>

/** The outcome of the writes of one run; the worst of primaries and replicas. */
export interface Checked {
  readonly acked: number
  readonly lost: number
  readonly duplicated: number
  readonly unknown: number
}

const UPGRADE_WITHIN_MS = 600_000

export async function loadDatabase(fairlead: Fairlead, wanted: DatabaseToLoad): Promise<LoadedDatabase> {
  const { api } = fairlead
  const { uid, action_uid } = await api.createDatabase({
    body: {
      name: 'bench',
      memory_size: 0,
      replication: wanted.replication,
      engine_version: wanted.build,
      ...(wanted.groups > 1 && { shards_count: wanted.groups, oss_cluster: true }),
    },
  })
  completed(await fairlead.untilEnded(action_uid, UPGRADE_WITHIN_MS))
  const { authentication_engine_pass: password = '' } = await api.getDatabase({ params: { uid } })
  const lookup = { url: `${fairlead.url}/v1/bdbs/${uid}`, token: fairlead.token }
  const load = await startLoad({
    kind: wanted.kind,
    password,
    connections: Math.max(50, wanted.groups),
    perSecond: wanted.perSecond,
    valueBytes: wanted.valueBytes ?? 100,
    lookup: { ...lookup, groups: wanted.groups > 1 ? 'sharded' : 'one' },
  })
  const shards = await api.listDatabaseShards({ params: { uid } })
  const placeOf = (slots: string) => (wanted.groups > 1 ? load.groups.indexOf(slots) : 0)
  return {
    uid,
    load,
    groupOfShard: new Map(shards.map((shard) => [shard.uid, placeOf(shard.assigned_slots)])),
    async upgrade(request) {
      const began = performance.now()
      const upgrade = await api.upgradeDatabase({ params: { uid }, body: request })
      const action = completed(await fairlead.untilEnded(upgrade.action_uid, UPGRADE_WITHIN_MS))
      return { action, ms: performance.now() - began }
    },
    async verdict() {
      await load.stop()
      const replicas = (await api.listDatabaseShards({ params: { uid } })).filter(
        ({ role }) => role === 'slave',
      )
      return readEverywhere(
        load,
        replicas.map(({ port }) => port),
      )
    },
    [Symbol.asyncDispose]: () => load[Symbol.asyncDispose](),
  }
}

/** A write counts as lost or doubled if it is so on any shard. */
async function readEverywhere(load: Load, replicaPorts: readonly number[]): Promise<Checked> {
  const atPrimaries = await load.readBack()
  const verdicts = [atPrimaries]
  for (const port of replicaPorts)
    verdicts.push(await load.readBack({ address: { host: '127.0.0.1', port } }))
  const worst = (of: (one: Checked) => number) => Math.max(...verdicts.map(of))
  const { acked, unknown } = atPrimaries
  return {
    acked,
    unknown,
    lost: worst(({ lost }) => lost),
    duplicated: worst(({ duplicated }) => duplicated),
  }
}

function completed(action: Action): Action {
  if (action.status === 'completed') return action
  throw new Error(`${action.name} ended ${action.status}: ${action.error ?? ''}`)
}
