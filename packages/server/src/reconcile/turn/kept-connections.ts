import type { Epoch } from '@fairlead/api'
import { type EngineConnection, isSameAddress } from '@fairlead/engine'
import type { ShardRecord } from '../../core/state/database.ts'
import { AgentUnreachable } from '../../nodes/agent-link.ts'

type ShardAt = Pick<ShardRecord, 'id' | 'host' | 'port'>

/**
 * One connection to each shard, with the epoch of its opening. Connections are kept while their database is
 * worked on; those of a database at rest are closed after a short idle time, so that 10,000 such databases
 * have few connections.
 */
export interface KeptConnections extends Disposable {
  /** Undefined if no connection is usable under this epoch. */
  find(shard: ShardAt, epoch: Epoch): EngineConnection | undefined
  /** Replaces the kept connection of the shard, and returns the connection to use. */
  put(databaseUid: number, shard: ShardAt, epoch: Epoch, connection: EngineConnection): EngineConnection
  /** Closes the connection to a leaving shard. */
  forget(shardId: number): void
  /** Called at the start of a turn: its connections stay open. */
  work(databaseUid: number): void
  /** Called when no work on the database is in progress. */
  rest(databaseUid: number): void
}

/** Idle time of a connection to a database at rest, and the maximum number of such connections. */
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
  /** Closes idle connections by last use, so that those over the limit are the longest unused. */
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
  /** Monotonic ms. */
  usedAt: number
  /** Unanswered requests. */
  readonly pending: number
  /** Closed by this server, not by the engine. */
  closeForRest(): void
}

/**
 * Counts uses. A request on a connection closed for rest blames no engine: it throws AgentUnreachable, and
 * the next turn opens another connection.
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
