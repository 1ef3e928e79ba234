import type { Action } from '../../core/state/action.ts'
import type { Database } from '../../core/state/database.ts'
import type { ObservedDatabase } from '../../core/state/topology.ts'
import { carryToFollowers } from '../carry-over/carry-to-followers.ts'
import type { TurnMemory } from '../turn/turn-memory.ts'
import type { TurnPorts } from './turn-ports.ts'

interface About {
  readonly database: Database
  readonly action: Action | undefined
  readonly seen: ObservedDatabase
}

/** Gives every follower the users and settings of its primary, before an upgrade counts as done. */
export async function syncSettings({ database, action, seen }: About, ports: TurnPorts): Promise<void> {
  const records = await ports.shards.listOf(database.uid)
  for (const { group, recordedPrimary } of seen.groups) {
    const primary = records.find(({ id }) => id === recordedPrimary)
    const followers = records.filter((shard) => shard.group === group && shard !== primary)
    if (primary === undefined) continue
    const missing = await carryToFollowers({ database, primary, followers, action }, ports)
    if (missing !== undefined && action !== undefined)
      await ports.actions.warn(action.uid, missing.why, new Date(ports.now()).toISOString())
  }
}

/** The name contains the run ids: a restarted process has lost its run-time settings. */
export async function resyncSettings(turn: About, ports: TurnPorts, memory: TurnMemory): Promise<void> {
  const runs = turn.seen.groups.flatMap(({ shards }) => shards.map(({ engine }) => engine?.runId ?? ''))
  const what = `users and settings of ${turn.database.uid}: ${runs.join(' ')}`
  if (memory.isTime(what, RESYNC_EVERY_MS)) await syncSettings(turn, ports)
}

/**
 * Shorter than the safety net's interval, so that each of its turns does this: if the primary dies, a
 * follower's users are at most this old.
 */
const RESYNC_EVERY_MS = 30_000
