import { deepStrictEqual } from 'node:assert'
import type { ObservedDatabase, ObservedShard } from '../../src/core/state/topology.ts'
import { observe } from '../../src/reconcile/look/observe.ts'
import type { Server } from './server.ts'
import { membersOf, type World } from './world.ts'

/** Interval, in turns, of comparisons with the product's look, which takes five times as long. */
const EVERY = 12

/**
 * Throws if the product's look (observe.ts) differs from `seen`, the model's look at this moment. Skips
 * turns, and stalled processes: the world would change during the wait for them.
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

/** Inputs of plans, without those that the model lacks: texts for people, memory, limits, slots of nodes. */
function factsOf({ groups }: ObservedDatabase) {
  return groups.map(({ group, shards, recordedPrimary, handover, standby }) => ({
    group,
    recordedPrimary,
    handover,
    standby,
    shards: shards.map(factsOfShard),
  }))
}

function factsOfShard({ disk, engine, ...shard }: ObservedShard) {
  const { id, address, wanted, revision, follows, leaving, process, asleep, endedCleanly, cannotRead } = shard
  const { snapshot = null, aof, claim } = disk ?? {}
  return {
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
    disk: { snapshot: snapshot && { replid: snapshot.replid, offset: snapshot.offset }, aof, claim },
    engine: engine && factsOfEngine(engine),
  }
}

function factsOfEngine(engine: NonNullable<ObservedShard['engine']>) {
  const { runId, role, link, syncing, loading, replid, replid2, secondOffset, offset, keys } = engine
  const { aof, streamed, errorReplies, primary, saving, cluster } = engine
  return {
    runId,
    role,
    link,
    syncing,
    loading,
    replid,
    replid2,
    secondOffset,
    offset,
    keys,
    aof,
    streamed,
    errorReplies,
    primary: primary?.port ?? null,
    isSaving: saving.state === 'writing',
    // A node in handshake has another name at each look.
    nodes: cluster?.nodes
      .map(({ address, handshake, primary: follows }) => ({ port: address.port, handshake, follows }))
      .toSorted((a, b) => a.port - b.port || Number(a.handshake) - Number(b.handshake)),
  }
}
