import type { Address, Epoch } from '@fairlead/api'
import { connectOver, type EngineConnection, EngineUnreachable } from '@fairlead/engine'
import { bucketOf } from '../../core/state/bucket.ts'
import type { Database, ShardRecord } from '../../core/state/database.ts'
import { AgentUnreachable } from '../../nodes/agent-link.ts'
import { agentName } from '../../nodes/agent-name.ts'
import type { Tunnel } from '../../nodes/open-tunnel.ts'
import { type KeptConnections, keepConnections, type RestBounds } from './kept-connections.ts'

/** Names a shard, and where its engine listens. */
export type ShardAt = Pick<ShardRecord, 'id' | 'host' | 'port'>

/**
 * Connections to engines as their administrator, one a shard, opened when first needed. All of them go through the agent of the node, which signs in. A command
 * throws EngineError or EngineUnreachable for what the engine does; AgentUnreachable when the agent was away or stalled, and StaleEpoch when another server
 * works on the database by now: neither says anything of the engine.
 */
export interface Engines {
  /** Throws as a command does. A connection that broke is replaced at the next call. */
  connect(database: Pick<Database, 'uid'>, shard: ShardAt): Promise<EngineConnection>
  /** Subscribes to a shard channel, on a connection of its own, which is the caller's to close. Throws as above. */
  listen(
    database: Pick<Database, 'uid'>,
    shard: ShardAt,
    channel: string,
    onMessage: () => void,
  ): Promise<Disposable>
  /** Makes a replica report its offset to its primary at once, on a connection of its own. Throws as above. */
  acknowledge(database: Pick<Database, 'uid'>, shard: ShardAt): Promise<void>
  /** The number of the newest of a shard's clients: that of a connection which is opened for this. Throws as above. */
  newestClient(database: Pick<Database, 'uid'>, shard: ShardAt): Promise<number>
  /** Closes the connection to a shard that is leaving. */
  forget(shardId: number): void
}

/** The connections that are open, over all turns. */
export interface EnginePool extends Disposable {
  /** The engines as reached under this epoch: connections of another epoch are not used. */
  under(epoch: Epoch): Engines
  /** See KeptConnections. */
  readonly work: KeptConnections['work']
  readonly rest: KeptConnections['rest']
}

/** How connections to engines are opened. */
export interface WaysToEngines {
  /** Throws EngineUnreachable, AgentUnreachable, StaleEpoch. */
  open(shard: string, epoch: Epoch): Promise<Tunnel>
  /** The present life of the agent. Throws AgentUnreachable, StaleEpoch. */
  life(epoch: Epoch): Promise<string>
}

/** Connections to engines, one for each shard, opened when first asked for and kept while its database is worked on. */
export function createEnginePool(ways: WaysToEngines, bounds?: RestBounds): EnginePool {
  const kept = keepConnections(bounds)
  const open: Open = async (shard, epoch, onMessage) => {
    const { socket, life } = await ways.open(agentName(shard.id), epoch)
    const address: Address = { host: shard.host, port: shard.port }
    return blamingTheRightOne(connectOver(socket, { address, onMessage }), async () => {
      if ((await ways.life(epoch)) !== life)
        throw new AgentUnreachable('the agent was started again, or stalled, meanwhile')
    })
  }
  return {
    under: (epoch) => enginesUnder(epoch, kept, open),
    ...{ work: kept.work, rest: kept.rest },
    [Symbol.dispose]: kept[Symbol.dispose],
  }
}

/** Opens another connection. */
type Open = (shard: ShardAt, epoch: Epoch, onMessage?: () => void) => Promise<EngineConnection>

function enginesUnder(epoch: Epoch, kept: KeptConnections, open: Open): Engines {
  const connectTo = async ({ uid }: Pick<Database, 'uid'>, shard: ShardAt, onMessage?: () => void) => {
    if (bucketOf(uid) === epoch.bucket) return await open(shard, epoch, onMessage)
    throw new Error(
      `database ${uid} is not of bucket ${epoch.bucket}, under whose epoch it was to be reached`,
    )
  }
  return {
    async connect(database, shard) {
      const before = kept.find(shard, epoch)
      if (before !== undefined) return before
      kept.forget(shard.id)
      const connection = await connectTo(database, shard)
      // Turns and preparations may ask for the same shard at once: if both opened a connection, one would never be closed.
      const other = kept.find(shard, epoch)
      if (other === undefined) return kept.put(database.uid, shard, epoch, connection)
      connection[Symbol.dispose]()
      return other
    },
    async listen(database, shard, channel, onMessage) {
      await using stack = new AsyncDisposableStack()
      const listener = stack.use(await connectTo(database, shard, onMessage))
      await listener.call('SSUBSCRIBE', channel)
      stack.move()
      return listener
    },
    async acknowledge(database, shard) {
      using replica = await connectTo(database, shard)
      // REPLCONF ACK has no answer, on any engine: this promise gets the answer of the PING behind it, and the connection is closed after that.
      const acknowledged = replica.call('REPLCONF', 'GETACK', '*')
      replica.call('PING').catch(() => undefined)
      await acknowledged
    },
    async newestClient(database, shard) {
      using connection = await connectTo(database, shard)
      return Number(await connection.call('CLIENT', 'ID'))
    },
    forget: kept.forget,
  }
}

/**
 * A command without an answer says something of its engine only where the agent, which stands between, was there all the time: `checkAgent` throws
 * where it was not.
 */
function blamingTheRightOne(connection: EngineConnection, checkAgent: () => Promise<void>): EngineConnection {
  const checked = async <T>(answer: Promise<T>): Promise<T> => {
    try {
      return await answer
    } catch (cause) {
      if (cause instanceof EngineUnreachable) await checkAgent()
      throw cause
    }
  }
  return {
    address: connection.address,
    call: (command, ...args) => checked(connection.call(command, ...args)),
    info: (...sections) => checked(connection.info(...sections)),
    get usable() {
      return connection.usable
    },
    [Symbol.dispose]: () => connection[Symbol.dispose](),
  }
}

/** The answer of an engine that may be dead; null when it gives none. Its errors are thrown. */
export async function ifItAnswers<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask()
  } catch (cause) {
    if (cause instanceof EngineUnreachable) return null
    throw cause
  }
}
