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
 * After a full sync a primary sends a follower nothing of what is written until that one has told how far it is, which engines do once a
 * second. It is told to do so at once. Until then it counts as not linked (core/state/topology.ts): a death of the primary would take along
 * all that clients have written since the sync began.
 */
export async function keepStreams(
  database: Database,
  { groups }: ObservedDatabase,
  ports: EngineConnections<'connect' | 'acknowledge'>,
  memory: TurnMemory,
): Promise<void> {
  for (const seen of groups) {
    const { primary, followers } = heldBackIn(seen)
    for (const follower of followers) {
      if (!memory.isTime(`stream to ${follower.id}`, ASK_EVERY_MS)) continue
      // One that does not answer is for the plan to see.
      await ifItAnswers(() => ports.engines.acknowledge(database, { id: follower.id, ...follower.address }))
    }
    if (primary === undefined || followers.length === 0 || primary.engine.offset > 0) continue
    // Nothing was ever written, and "I have nothing" looks the same as no word at all: the question itself
    // goes into the stream.
    await ifItAnswers(async () => {
      const connection = await ports.engines.connect(database, { id: primary.id, ...primary.address })
      await connection.call('WAIT', 1_000, 1)
    })
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

/** Where the primary has not heard yet of the end of its sync, it takes no notice: then once more. */
const ASK_EVERY_MS = 100
