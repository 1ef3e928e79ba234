import { deepStrictEqual } from 'node:assert'
import type { ObservedDatabase, ObservedShard } from '../../src/core/state/topology.ts'
import { observe } from '../../src/reconcile/look/observe.ts'
import type { Server } from './server.ts'
import { membersOf, type World } from './world.ts'

/** In how many turns the model's look is compared with the look that ships, which takes five times as long. */
const EVERY = 12

/**
 * Throws if the look that ships (observe.ts) differs from `seen`, the model's own look at this moment. Not in every turn, and not while a process is
 * stalled: to wait for that process takes time, and the world would go on.
 */
export async function compareLooks(world: World, { ports }: Server, seen: ObservedDatabase): Promise<void> {
  if (world.turn % EVERY !== 0 || membersOf(world).some(({ stall }) => stall !== null)) return
  const database = await ports.databases.get(1)
  if (database === undefined) return
  world.isStill = true
  try {
    const shipped = await observe(database, ports, new AbortController().signal)
    deepStrictEqual(factsOf(seen), factsOf(shipped))
  } finally {
    world.isStill = false
  }
}

/** What plans of these worlds depend on. Left out is what the model does not have: reasons for people, memory, limits, slots of nodes. */
function factsOf({ groups }: ObservedDatabase) {
  return groups.map(({ group, shards, recordedPrimary, handover, standby }) => ({
    ...{ group, recordedPrimary, handover, standby },
    shards: shards.map(factsOfShard),
  }))
}

function factsOfShard({ disk, engine, ...shard }: ObservedShard) {
  const { id, address, wanted, revision, follows, leaving, process, asleep, endedCleanly, cannotRead } = shard
  const { snapshot = null, aof, claim } = disk ?? {}
  return {
    ...{
      id,
      port: address.port,
      wanted,
      revision,
      follows,
      leaving,
      process,
      asleep,
      endedCleanly,
      cannotRead,
    },
    disk: { snapshot: snapshot && { replid: snapshot.replid, offset: snapshot.offset }, aof, claim },
    engine: engine && factsOfEngine(engine),
  }
}

function factsOfEngine(engine: NonNullable<ObservedShard['engine']>) {
  const { runId, role, link, syncing, loading, replid, replid2, secondOffset, offset, keys } = engine
  const { aof, streamed, errorReplies, primary, saving, cluster } = engine
  return {
    ...{ runId, role, link, syncing, loading, replid, replid2, secondOffset, offset, keys },
    ...{ aof, streamed, errorReplies },
    primary: primary?.port ?? null,
    isSaving: saving.state === 'writing',
    // A node in handshake has another name at each look.
    nodes: cluster?.nodes
      .map(({ address, handshake, primary: follows }) => ({ port: address.port, handshake, follows }))
      .toSorted((a, b) => a.port - b.port || Number(a.handshake) - Number(b.handshake)),
  }
}
