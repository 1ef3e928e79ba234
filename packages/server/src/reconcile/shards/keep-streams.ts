import type { Database } from '../../core/state/database.ts'
import {
  isHeldBack,
  isLive,
  type LiveShard,
  type ObservedDatabase,
  type ObservedGroup,
} from '../../core/state/topology.ts'
import { ifItAnswers } from '../turn/engines.ts'
import type { EngineConnections } from '../turn/ports.ts'
import type { TurnMemory } from '../turn/turn-memory.ts'

/**
 * Makes a follower report its offset immediately after a full sync: its primary sends no new writes before,
 * and engines report once a second. Until then it counts as not linked (core/state/topology.ts), and if the
 * primary died, writes since the start of the sync would be lost.
 */
export async function keepStreams(
  database: Database,
  { groups }: ObservedDatabase,
  ports: EngineConnections<'tryOn' | 'acknowledge'>,
  memory: TurnMemory,
): Promise<void> {
  for (const seen of groups) {
    const { primary, followers } = heldBackIn(seen)
    for (const follower of followers) {
      if (!memory.isTime(`stream to ${follower.id}`, ASK_EVERY_MS)) continue
      // The plan handles a shard that does not answer.
      await ifItAnswers(() => ports.engines.acknowledge(database, { id: follower.id, ...follower.address }))
    }
    if (primary === undefined || followers.length === 0 || primary.engine.offset > 0) continue
    // If nothing was ever written, a report of offset 0 looks like no report: this command itself enters the
    // stream.
    await ports.engines.tryOn(database, { id: primary.id, ...primary.address }, (connection) =>
      connection.call('WAIT', 1_000, 1),
    )
  }
}

function heldBackIn({ shards }: ObservedGroup): {
  readonly primary: LiveShard | undefined
  readonly followers: readonly LiveShard[]
} {
  const primary = shards.filter(isLive).find(({ engine }) => engine.heldBack !== undefined)
  if (primary === undefined) return { primary, followers: [] }
  const followers = shards.filter(isLive).filter((shard) => {
    return shard.engine.link === 'up' && isHeldBack(shard, primary)
  })
  return { primary, followers }
}

/** A primary that has not noticed the end of the sync ignores the report: the follower then reports again. */
const ASK_EVERY_MS = 100
