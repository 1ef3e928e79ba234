import type { Action, Body, createDatabase, upgradeDatabase } from '@fairlead/api'
import { type LedgerReport, type Load, startLoad, type Verdict } from '@fairlead/ledger'
import { type Afterwards, goThroughUpgrade } from './go-through-upgrade.ts'
import type { Fairlead } from './start-fairlead.ts'
import { watchFullSyncs } from './watch-full-syncs.ts'

/** The result of an upgrade under load. */
export interface Proof {
  readonly from: string
  /** What the database runs in the end: after a rollback, what it ran before. */
  readonly to: string
  /** The last action; `certificates` has those of all actions. */
  readonly action: Action
  readonly certificates: Action['certificates']
  readonly acked: number
  readonly lost: number
  readonly duplicated: number
  readonly errors: number
  /** Times a client had to connect again. */
  readonly reconnects: number
  /** Counts by kind. `hint`: the API named the primary too late. */
  readonly errorKinds: Readonly<Record<string, number>>
  /** Full syncs in addition to the first one of each new shard. */
  readonly fullSyncs: number
  readonly writeStopsMs: readonly number[]
  /** For each handover; for a sharded database, of the group with the longest gap. */
  readonly clientGapsMs: readonly number[]
  readonly ackedPerSecond: number
  /** Sentences on what is wrong, if anything is. */
  readonly examples: readonly string[]
}

export interface LoadedUpgrade {
  readonly from: string
  readonly to: string
  /** An existing Fairlead; without it, one is created. */
  readonly uid?: number
  readonly kind: 'set' | 'incr'
  readonly preserveRoles?: boolean
  readonly replication?: boolean
  readonly persistence?: 'disabled' | 'aof' | 'snapshot'
  /** The modules that the database has from the beginning, and those that are upgraded. */
  readonly modules?: {
    readonly list: Body<typeof createDatabase>['module_list']
    readonly upgrade: Body<typeof upgradeDatabase>['modules']
  }
  /** Above 1 it is sharded. */
  readonly groups?: number
  /** The upgrade stops before the first handover, and is resumed. */
  readonly supervised?: boolean
  readonly afterwards?: Afterwards
  /** Called with the database, under load, before the upgrade is requested. */
  readonly beforehand?: (uid: number) => Promise<void>
  readonly connections?: number
  readonly perSecond?: number
  /**
   * For this time after a handover the API may name the old primary; later it is counted as a `hint`. Default
   * 250 ms.
   */
  readonly apiMayLagMs?: number
  /**
   * Writes acknowledged before the upgrade begins, after it, and in each state in which it is left in
   * between.
   */
  readonly warmUp?: number
  /** Called with the database at the end, after all writes were read back. */
  readonly inspect?: (uid: number) => Promise<void>
  /** Called with a sentence for each stage, for people who watch. */
  readonly say?: (sentence: string) => void
}

/**
 * Creates a database, puts it under load, upgrades it through the API, and reads every acknowledged write
 * back: from the primaries that the API names, and where there are replicas, from each of them too.
 */
export async function upgradeUnderLoad(fairlead: Fairlead, options: LoadedUpgrade): Promise<Proof> {
  const { from, to, kind, groups = 1, warmUp = 10_000, say = () => undefined } = options
  const { api, home } = fairlead
  if (options.uid === undefined) say(`creating a database on ${from}`)
  const uid = options.uid ?? (await create(fairlead, options))
  const before = await api.getDatabase({ params: { uid } })

  await using syncs = await watchFullSyncs(home)
  await using load = await startLoad({
    kind,
    connections: options.connections ?? 50,
    perSecond: options.perSecond ?? 20_000,
    ...(options.apiMayLagMs !== undefined && { apiMayLagMs: options.apiMayLagMs }),
    password: before.authentication_engine_pass ?? '',
    lookup: {
      url: `${fairlead.url}/v1/bdbs/${uid}`,
      token: fairlead.token,
      ...(groups > 1 && { groups: 'sharded' }),
    },
  })
  const writeOn = () => load.untilAcked(load.acked() + warmUp)
  await writeOn()
  await options.beforehand?.(uid)
  say(`upgrading it to ${to} at ${Math.round(load.perSecond())} acknowledged ${kind.toUpperCase()}s a second`)
  const actions = await goThroughUpgrade(fairlead, {
    uid,
    to,
    modules: options.modules?.upgrade,
    preserveRoles: options.preserveRoles ?? false,
    supervised: options.supervised ?? false,
    afterwards: options.afterwards ?? 'finish',
    meanwhile: writeOn,
  })
  await writeOn()

  const certificates = actions.flatMap((action) => action.certificates)
  const clientGapsMs = await gapsOf(load, certificates)
  const report = await load.stop()
  say(`reading ${report.acked} acknowledged writes back`)
  const after = await api.getDatabase({ params: { uid } })
  const verdicts = await readEverywhere(fairlead, uid, load)
  await options.inspect?.(uid)
  const fullSyncs = (await syncs.count()) - syncs.newShards()
  await completed(fairlead, (await api.deleteDatabase({ params: { uid } })).action_uid)
  return {
    from: `${before.engine} ${before.engine_version}`,
    to: `${after.engine} ${after.engine_version}`,
    action: lastOf(actions),
    certificates,
    fullSyncs,
    writeStopsMs: certificates.flatMap(({ write_stop_ms }) => write_stop_ms ?? []),
    clientGapsMs,
    ...summarize(report, verdicts),
  }
}

/** What was acknowledged, and what exists: the worst of all shards counts. */
function summarize(report: LedgerReport, verdicts: readonly Verdict[]) {
  return {
    acked: report.acked,
    lost: Math.max(...verdicts.map(({ lost }) => lost)),
    duplicated: Math.max(...verdicts.map(({ duplicated }) => duplicated)),
    errors: Object.values(report.errors).reduce((sum, count) => sum + count, 0),
    reconnects: report.reconnects,
    errorKinds: report.errors,
    ackedPerSecond: Math.round(report.acked / report.seconds),
    examples: verdicts.flatMap(({ examples }) => examples),
  }
}

async function create(fairlead: Fairlead, options: LoadedUpgrade): Promise<number> {
  const { from, kind, groups = 1, replication = true, persistence = 'disabled' } = options
  const { uid, action_uid } = await fairlead.api.createDatabase({
    body: {
      name: `proof-${kind}-${Date.now().toString(36)}`,
      memory_size: 0,
      replication,
      data_persistence: persistence,
      engine_version: from,
      shards_count: groups,
      ...(groups > 1 && { oss_cluster: true }),
      ...(options.modules?.list && { module_list: options.modules.list }),
    },
  })
  await completed(fairlead, action_uid)
  return uid
}

async function gapsOf(load: Load, certificates: Action['certificates']): Promise<readonly number[]> {
  const gaps: number[] = []
  for (const { at } of certificates) {
    const window = { fromMs: Date.parse(at) - 250, toMs: Date.parse(at) + 1_000 }
    const each = await Promise.all(load.groups.map((_, group) => load.longestGapMs(window, { group })))
    gaps.push(Math.max(...each))
  }
  return gaps
}

async function readEverywhere(fairlead: Fairlead, uid: number, load: Load): Promise<readonly Verdict[]> {
  const verdicts = [await load.readBack()]
  for (const { port, role } of await fairlead.api.listDatabaseShards({ params: { uid } })) {
    if (role === 'slave') verdicts.push(await load.readBack({ address: { host: '127.0.0.1', port } }))
  }
  return verdicts
}

function lastOf(actions: readonly Action[]): Action {
  const last = actions.at(-1)
  if (last === undefined) throw new Error('there was no action')
  return last
}

async function completed(fairlead: Fairlead, actionUid: string | undefined): Promise<Action> {
  const action = await fairlead.untilEnded(actionUid, 120_000)
  if (action.status !== 'completed')
    throw new Error(`${action.name} ended ${action.status}: ${action.error ?? ''}`)
  return action
}
