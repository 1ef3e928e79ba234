import type { Action } from '@fairlead/api'
import { startLoad } from '@fairlead/ledger'
import type { Fairlead } from './start-fairlead.ts'
import { watchFullSyncs } from './watch-full-syncs.ts'

/** What an upgrade under load led to. */
export interface Proof {
  readonly from: string
  readonly to: string
  readonly action: Action
  readonly acked: number
  readonly lost: number
  readonly duplicated: number
  readonly errors: number
  /** Besides the surge shard's own first one. */
  readonly fullSyncs: number
  readonly writeStopsMs: readonly number[]
  readonly clientGapsMs: readonly number[]
  readonly ackedPerSecond: number
  /** Sentences on what is wrong, if anything is. */
  readonly examples: readonly string[]
}

export interface LoadedUpgrade {
  readonly from: string
  readonly to: string
  readonly kind: 'set' | 'incr'
  readonly preserveRoles?: boolean
  readonly replication?: boolean
  readonly persistence?: 'disabled' | 'aof' | 'snapshot'
  readonly connections?: number
  readonly perSecond?: number
  /** Writes acknowledged before the upgrade begins, and again after it. */
  readonly warmUp?: number
  /** Told what happens, for people who watch. */
  readonly say?: (sentence: string) => void
}

/**
 * Creates a database, puts it under load, upgrades it through the API, and reads every acknowledged write back: from
 * the primary that the API names, and where there are replicas, from each of them too.
 */
export async function upgradeUnderLoad(fairlead: Fairlead, options: LoadedUpgrade): Promise<Proof> {
  const {
    from,
    to,
    kind,
    preserveRoles = false,
    replication = true,
    persistence = 'disabled',
    warmUp = 10_000,
    say = () => undefined,
  } = options
  const { api, home } = fairlead
  say(`creating a database on ${from}`)
  const created = await api.createDatabase({
    body: {
      name: `proof-${kind}-${Date.now().toString(36)}`,
      memory_size: 0,
      replication,
      data_persistence: persistence,
      engine_version: from,
    },
  })
  await completed(fairlead, created.action_uid)
  const before = await api.getDatabase({ params: { uid: created.uid } })

  await using syncs = await watchFullSyncs(home)
  await using load = await startLoad({
    kind,
    connections: options.connections ?? 50,
    perSecond: options.perSecond ?? 20_000,
    password: before.authentication_engine_pass ?? '',
    lookup: { url: `${fairlead.url}/v1/bdbs/${created.uid}`, token: fairlead.token },
  })
  await load.untilAcked(warmUp)
  say(`upgrading it to ${to} at ${load.perSecond()} acknowledged ${kind.toUpperCase()}s a second`)
  const upgrade = await api.upgradeDatabase({
    params: { uid: created.uid },
    body: { engine_version: to, preserve_roles: preserveRoles },
  })
  const action = await completed(fairlead, upgrade.action_uid)
  await load.untilAcked(load.acked() + warmUp)

  const clientGapsMs: number[] = []
  for (const { at } of action.certificates) {
    clientGapsMs.push(await load.longestGapMs({ fromMs: Date.parse(at) - 250, toMs: Date.parse(at) + 1_000 }))
  }
  const report = await load.stop()
  say(`reading ${report.acked} acknowledged writes back`)
  const after = await api.getDatabase({ params: { uid: created.uid } })
  const verdicts = [await load.readBack()]
  for (const { port, role } of await api.listDatabaseShards({ params: { uid: created.uid } })) {
    if (role === 'slave') verdicts.push(await load.readBack({ address: { host: '127.0.0.1', port } }))
  }
  const isNew = (shard: string) => !before.shard_list.includes(Number(shard))
  const firstSyncs = new Set(action.certificates.flatMap(({ from, to }) => [from, to]).filter(isNew)).size
  const fullSyncs = (await syncs.count()) - firstSyncs
  await completed(fairlead, (await api.deleteDatabase({ params: { uid: created.uid } })).action_uid)
  return {
    from: `${before.engine} ${before.engine_version}`,
    to: `${after.engine} ${after.engine_version}`,
    action,
    acked: report.acked,
    lost: Math.max(...verdicts.map(({ lost }) => lost)),
    duplicated: Math.max(...verdicts.map(({ duplicated }) => duplicated)),
    errors: Object.values(report.errors).reduce((sum, count) => sum + count, 0),
    fullSyncs,
    writeStopsMs: action.certificates.map(({ write_stop_ms }) => write_stop_ms),
    clientGapsMs,
    ackedPerSecond: Math.round(report.acked / report.seconds),
    examples: verdicts.flatMap(({ examples }) => examples),
  }
}

async function completed(fairlead: Fairlead, actionUid: string | undefined): Promise<Action> {
  const action = await fairlead.untilEnded(actionUid, 120_000)
  if (action.status !== 'completed')
    throw new Error(`${action.name} ended ${action.status}: ${action.error ?? ''}`)
  return action
}
