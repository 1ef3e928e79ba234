import type { Epoch } from '@fairlead/api'
import { type EngineConnection, isSameAddress } from '@fairlead/engine'
import type { ShardRecord } from '../../core/state/database.ts'
import { AgentUnreachable } from '../../nodes/agent-link.ts'

type ShardAt = Pick<ShardRecord, 'id' | 'host' | 'port'>

/**
 * One connection to each shard, with the epoch under which it was opened. While a database is worked on its connections are kept; those of one that rests are closed
 * when nothing was asked on them for a moment, so that ten thousand databases that rest have a few connections.
 */
export interface KeptConnections extends Disposable {
  /** Undefined if there is no connection that can be used under this epoch. */
  find(shard: ShardAt, epoch: Epoch): EngineConnection | undefined
  /** Replaces the kept connection of the shard, and returns the connection to use. */
  put(databaseUid: number, shard: ShardAt, epoch: Epoch, connection: EngineConnection): EngineConnection
  /** Closes the connection to a shard that is leaving. */
  forget(shardId: number): void
  /** A turn begins: from now on its connections stay open. */
  work(databaseUid: number): void
  /** Nothing is in progress on it. */
  rest(databaseUid: number): void
}

/** How long a connection to a database that rests stays open when nothing is asked, and how many of these there are at most. */
export interface RestBounds {
  readonly idleMs: number
  readonly most: number
}

/** A turn is often followed by another one soon. */
const BOUNDS: RestBounds = { idleMs: 3_000, most: 128 }

/** Starts without connections. */
export function keepConnections({ idleMs, most }: RestBounds = BOUNDS): KeptConnections {
  const open = new Map<number, Kept>()
  const working = new Set<number>()
  let timer: NodeJS.Timeout | undefined
  const forget = (shardId: number) => {
    open.get(shardId)?.connection[Symbol.dispose]()
    open.delete(shardId)
  }
  const resting = () => [...open.values()].filter((one) => !working.has(one.databaseUid))
  /** In the order of their last use, so that those over the bound are the ones that were not used for the longest time. */
  const closeIdle = () => {
    const closable = resting().filter(({ connection }) => connection.pending === 0)
    const now = performance.now()
    let tooMany = resting().length - most
    for (const { shardId, connection } of closable.toSorted(byUse)) {
      if (tooMany <= 0 && now - connection.usedAt < idleMs) continue
      connection.closeForRest()
      open.delete(shardId)
      tooMany -= 1
    }
  }
  const closeLater = () => {
    timer ??= setTimeout(() => {
      timer = undefined
      closeIdle()
      if (resting().length > 0) closeLater()
    }, idleMs / 3).unref()
  }
  return {
    forget,
    find({ id, host, port }, { epoch }) {
      const found = open.get(id)
      const isOfUs = found?.connection.usable && found.epoch === epoch
      if (!isOfUs || !isSameAddress(found.connection.address, { host, port })) return undefined
      found.connection.usedAt = performance.now()
      return found.connection
    },
    put(databaseUid, { id }, { epoch }, connection) {
      forget(id)
      const kept = countUse(connection)
      open.set(id, { shardId: id, databaseUid, epoch, connection: kept })
      closeLater()
      return kept
    },
    work: (databaseUid) => void working.add(databaseUid),
    rest(databaseUid) {
      working.delete(databaseUid)
      if (open.size > most) closeIdle()
      closeLater()
    },
    [Symbol.dispose]() {
      clearTimeout(timer)
      for (const id of [...open.keys()]) forget(id)
    },
  }
}

interface Kept {
  readonly shardId: number
  readonly databaseUid: number
  readonly epoch: number
  readonly connection: UsedConnection
}

interface UsedConnection extends EngineConnection {
  /** In milliseconds of a clock that only rises. */
  usedAt: number
  /** Questions without an answer yet. */
  readonly pending: number
  /** Closed by this server, not by the engine. */
  closeForRest(): void
}

/**
 * A question on a connection that was closed for rest says nothing of the engine: it throws AgentUnreachable, as for a tunnel that broke. The next turn opens
 * another connection.
 */
function countUse(connection: EngineConnection): UsedConnection {
  const state = { usedAt: performance.now(), pending: 0, isClosed: false }
  const count = async <T>(ask: () => Promise<T>): Promise<T> => {
    if (state.isClosed)
      throw new AgentUnreachable('this connection was closed because it was idle; another one is opened')
    state.pending += 1
    try {
      return await ask()
    } finally {
      state.pending -= 1
      state.usedAt = performance.now()
    }
  }
  return {
    address: connection.address,
    call: (command, ...args) => count(() => connection.call(command, ...args)),
    info: (...sections) => count(() => connection.info(...sections)),
    get usable() {
      return connection.usable
    },
    get usedAt() {
      return state.usedAt
    },
    set usedAt(at) {
      state.usedAt = at
    },
    get pending() {
      return state.pending
    },
    closeForRest() {
      state.isClosed = true
      connection[Symbol.dispose]()
    },
    [Symbol.dispose]: () => connection[Symbol.dispose](),
  }
}

function byUse({ connection: a }: Kept, { connection: b }: Kept): number {
  return a.usedAt - b.usedAt
}
