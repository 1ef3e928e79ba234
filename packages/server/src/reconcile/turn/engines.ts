import { connectEngine, type EngineAddress, type EngineConnection, EngineUnreachable } from '@fairlead/engine'
import type { Database, ShardRecord } from '../../core/state/database.ts'

/** The administrative user that every shard has. */
const ADMIN = 'fairlead'

/** Open connections to engines as their administrator, one a shard, opened when first needed. */
export interface Engines extends Disposable {
  /** Throws EngineUnreachable. A connection that broke is replaced at the next call. */
  connect(database: Database, shard: Pick<ShardRecord, 'id' | 'host' | 'port'>): Promise<EngineConnection>
  /** Subscribes to a shard channel, on a connection of its own, which is the caller's to close. Throws EngineUnreachable, EngineError. */
  listen(
    database: Database,
    shard: Pick<ShardRecord, 'host' | 'port'>,
    channel: string,
    onMessage: () => void,
  ): Promise<Disposable>
  /** Has a replica tell its primary at once how far it is, on a connection of its own. Throws EngineUnreachable. */
  acknowledge(database: Database, shard: Pick<ShardRecord, 'host' | 'port'>): Promise<void>
  /** The number of the newest of a shard's clients: that of a connection which is opened for this. Throws as above. */
  newestClient(database: Database, shard: Pick<ShardRecord, 'host' | 'port'>): Promise<number>
  /** Closes the connection to a shard that is leaving. */
  forget(shardId: number): void
}

/** Connections to engines, one for each shard, opened when first asked for and kept. */
export function createEngines(): Engines {
  const open = new Map<number, EngineConnection>()
  const forget = (shardId: number) => {
    open.get(shardId)?.[Symbol.dispose]()
    open.delete(shardId)
  }
  return {
    async connect(database, { id, host, port }) {
      const known = open.get(id)
      if (known?.usable && isSame(known.address, { host, port })) return known
      forget(id)
      const login = { username: ADMIN, password: database.adminPassword }
      const connection = await connectEngine({ address: { host, port }, login, connectTimeoutMs: 500 })
      // Turns and preparations ask for the same shard at once: of two that were opened meanwhile, one would never be closed.
      const other = open.get(id)
      if (other?.usable && isSame(other.address, { host, port })) {
        connection[Symbol.dispose]()
        return other
      }
      forget(id)
      open.set(id, connection)
      return connection
    },
    async listen({ adminPassword }, { host, port }, channel, onMessage) {
      await using stack = new AsyncDisposableStack()
      const login = { username: ADMIN, password: adminPassword }
      const listener = stack.use(
        await connectEngine({ address: { host, port }, login, connectTimeoutMs: 500, onMessage }),
      )
      await listener.call('SSUBSCRIBE', channel)
      stack.move()
      return listener
    },
    async acknowledge({ adminPassword }, { host, port }) {
      const login = { username: ADMIN, password: adminPassword }
      using replica = await connectEngine({ address: { host, port }, login, connectTimeoutMs: 500 })
      // This one has no answer, on any engine: it gets that of the PING behind it, and the connection ends with it.
      const acknowledged = replica.call('REPLCONF', 'GETACK', '*')
      replica.call('PING').catch(() => undefined)
      await acknowledged
    },
    async newestClient({ adminPassword }, { host, port }) {
      const login = { username: ADMIN, password: adminPassword }
      using connection = await connectEngine({ address: { host, port }, login, connectTimeoutMs: 500 })
      return Number(await connection.call('CLIENT', 'ID'))
    },
    forget,
    [Symbol.dispose]() {
      for (const id of [...open.keys()]) forget(id)
    },
  }
}

function isSame(a: EngineAddress, b: EngineAddress): boolean {
  return a.host === b.host && a.port === b.port
}

/** What an engine that may be dead was asked for; null when it gives no answer. Its errors are thrown. */
export async function ifItAnswers<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask()
  } catch (cause) {
    if (cause instanceof EngineUnreachable) return null
    throw cause
  }
}
