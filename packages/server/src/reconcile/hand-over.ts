import type { Build } from '@fairlead/api'
import type { EngineConnection } from '@fairlead/engine'
import { type Handover, handoversStore } from '../actions/handovers-store.ts'
import type { Certificate } from '../core/action.ts'
import type { Database, ShardRecord } from '../core/database.ts'
import { databasesStore } from '../databases/databases-store.ts'
import type { Outcome } from './carry-out.ts'
import { countFullSyncs } from './count-full-syncs.ts'
import type { Deps } from './deps.ts'
import { passGate, replicationOf } from './handover-gate.ts'
import { letWritesGo, stopWrites } from './stop-writes.ts'

/**
 * Moves the primary role from `from` to `to` without losing an acknowledged write: demote first, then promote.
 * Measured, with the reasons behind each word: facts on handover. In this order:
 *
 * 1. Gate: the stream really flows, to the heir and to its siblings. Nothing has stopped yet.
 * 2. The intent is on record.
 * 3. Pause: writes wait at the primary. From here on, clients are held.
 * 4. Equal: every follower has everything the primary has. If that takes too long, the pause ends and nothing happened.
 * 5. Demote the primary. Its offset is frozen now; it must be the heir's, in the same history. If not, it is taken
 *    back, and nothing happened. Killed here, there is no primary: safe, and the planner promotes one.
 * 6. Promote the heir. The write stop ends.
 * 7. The record of who serves, with the certificate; siblings follow; the old primary lets its clients go.
 */
export async function handOver(
  parts: {
    readonly database: Database
    readonly from: ShardRecord
    readonly to: ShardRecord
    readonly siblings: readonly ShardRecord[]
    readonly actionUid: string | null
  },
  deps: Deps,
  signal: AbortSignal,
): Promise<Outcome> {
  const { database, from, to, siblings, actionUid } = parts
  const primary = await deps.engines.connect(database, from)
  const heir = await deps.engines.connect(database, to)
  const others = await Promise.all(siblings.map((shard) => deps.engines.connect(database, shard)))

  const gate = await passGate(primary, [heir, ...others], signal)
  if (gate !== 'open') return { kind: 'not yet', why: gate }

  const fullSyncsBefore = await countFullSyncs(database, [from, to, ...siblings], deps.engines)
  const handover = await deps.effect('record-intent', () =>
    deps.handovers.intend({
      databaseUid: database.uid,
      actionUid,
      from: from.id,
      to: to.id,
      fullSyncsBefore,
      intendedAt: new Date(deps.now()).toISOString(),
    }),
  )
  const group = { primary, heir, others, build: from.runs.build }
  const moved = await moveRole(group, deps)
  if ('why' in moved) {
    await deps.handovers.close(handover.id, null, new Date(deps.now()).toISOString())
    return { kind: 'not yet', why: moved.why, afterMs: CALM_MS }
  }
  await settleIn({ handover, moved, group }, deps)
  return { kind: 'done' }
}

/** After an attempt that held clients for nothing. */
const CALM_MS = 3_000
/** How long writes may wait for the heir to catch up, after a gate that saw it close behind. */
const CATCH_UP_MS = 300

interface Group {
  readonly primary: EngineConnection
  readonly heir: EngineConnection
  readonly others: readonly EngineConnection[]
  /** What the primary runs: how its writes are stopped depends on it. */
  readonly build: Build
}

interface Moved {
  readonly replid: string
  readonly offset: number
  readonly writeStopMs: number
}

/** Steps 3 to 6. Either the role has moved, or the primary is what it was and `why` says what was in the way. */
async function moveRole(
  { primary, heir, others, build }: Group,
  deps: Deps,
): Promise<Moved | { readonly why: string }> {
  const { effect } = deps
  const began = performance.now()
  await stopWrites(primary, build, deps)
  if (!(await becomeEqual(primary, [heir, ...others]))) {
    await letWritesGo(primary, build, deps)
    return { why: `not every follower caught up within ${CATCH_UP_MS} ms of stopped writes` }
  }
  await effect('demote', () => primary.call('REPLICAOF', heir.address.host, heir.address.port))

  const [frozen, held] = await Promise.all([replicationOf(primary), replicationOf(heir)])
  if (frozen.offset !== held.offset || frozen.replid !== held.replid) {
    await effect('take-back', () => primary.call('REPLICAOF', 'NO', 'ONE'))
    await letWritesGo(primary, build, deps)
    return {
      why: `the primary stood at ${frozen.replid}:${frozen.offset} and the heir at ${held.replid}:${held.offset}; nothing was moved`,
    }
  }
  await effect('promote', () => heir.call('REPLICAOF', 'NO', 'ONE'))
  return { replid: frozen.replid, offset: frozen.offset, writeStopMs: round(performance.now() - began) }
}

/** All of them, not the heir alone: whoever stands where the heir stands can resume at it. */
async function becomeEqual(
  primary: EngineConnection,
  followers: readonly EngineConnection[],
): Promise<boolean> {
  const deadline = performance.now() + CATCH_UP_MS
  do {
    const [ahead, ...behind] = await Promise.all([primary, ...followers].map(replicationOf))
    if (behind.every(({ offset, replid }) => offset === ahead?.offset && replid === ahead.replid)) return true
  } while (performance.now() < deadline)
  return false
}

/** Step 7. The order is the clients': the record first, because that is where they ask once they are let go. */
async function settleIn(
  parts: {
    readonly handover: Handover
    readonly moved: Moved
    readonly group: Group
  },
  deps: Deps,
): Promise<void> {
  const { handover, moved, group } = parts
  const { store, effect, now } = deps
  const certificate: Certificate = {
    from: handover.from,
    to: handover.to,
    replid: moved.replid,
    offsetFrom: moved.offset,
    offsetTo: moved.offset,
    writeStopMs: moved.writeStopMs,
    recovered: false,
    fullSyncs: null,
    at: new Date(now()).toISOString(),
  }
  await effect('record-handover', () =>
    store.transaction(async (db) => {
      await databasesStore(db).setPrimary(handover.databaseUid, handover.to)
      await handoversStore(db).certify(handover.id, certificate)
    }),
  )
  await letWritesGo(group.primary, group.build, deps)
  for (const sibling of group.others) {
    await effect('follow', () => sibling.call('REPLICAOF', group.heir.address.host, group.heir.address.port))
  }
}

/** Milliseconds with two digits: the clock is not better than that across two processes. */
function round(ms: number): number {
  return Math.round(ms * 100) / 100
}
