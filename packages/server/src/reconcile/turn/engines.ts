import type { Address, Epoch, MovingShards } from '@fairlead/api'
import { connectOver, type EngineConnection, EngineUnreachable } from '@fairlead/engine'
import { bucketOf } from '../../core/state/bucket.ts'
import type { Database, ShardRecord } from '../../core/state/database.ts'
import { AgentUnreachable } from '../../nodes/agent-link.ts'
import { agentName } from '../../nodes/agent-name.ts'
import type { PreparedMove } from '../../nodes/open-move.ts'
import type { Tunnel } from '../../nodes/open-tunnel.ts'
import { type KeptConnections, keepConnections, type RestBounds } from './kept-connections.ts'

/** A shard, and the address of its engine. */
export type ShardAt = Pick<ShardRecord, 'id' | 'host' | 'port'>

/**
 * Connections to engines as their administrator, one for each shard, opened on demand through the node's
 * agent, which signs in. A command throws EngineError or EngineUnreachable for the engine's behaviour.
 * AgentUnreachable (agent away or stalled) and StaleEpoch (another server works on the database) prove
 * nothing about the engine.
 */
export interface Engines {
  /** Throws like a command. A broken connection is replaced at the next call. */
  connect(database: Pick<Database, 'uid'>, shard: ShardAt): Promise<EngineConnection>
  /** Does `work` on that connection. Null if the engine does not answer; throws everything else. */
  tryOn<T>(
    database: Pick<Database, 'uid'>,
    shard: ShardAt,
    work: (connection: EngineConnection) => Promise<T>,
  ): Promise<T | null>
  /** Subscribes to a shard channel on a separate connection, closed by the caller. Throws like a command. */
  listen(
    database: Pick<Database, 'uid'>,
    shard: ShardAt,
    channel: string,
    onMessage: () => void,
  ): Promise<Disposable>
  /** Makes a replica report its offset immediately, on a separate connection. Throws like a command. */
  acknowledge(database: Pick<Database, 'uid'>, shard: ShardAt): Promise<void>
  /** Returns the newest client number of a shard, by opening a connection. Throws like a command. */
  newestClient(database: Pick<Database, 'uid'>, shard: ShardAt): Promise<number>
  /** Prepares the agent for a move of the role of `from` to `to`. Throws like a command. */
  prepareMove(database: Pick<Database, 'uid'>, shards: MovingRole): Promise<PreparedMove>
  /** Closes the connection to a leaving shard. */
  forget(shardId: number): void
}

/** Ids of the shards of a group whose role moves. */
export interface MovingRole {
  readonly from: number
  readonly to: number
  readonly others: readonly number[]
}

/** Open connections, shared by all turns. */
export interface EnginePool extends Disposable {
  /** Returns the engines under this epoch: connections of other epochs are not used. */
  under(epoch: Epoch): Engines
  /** See KeptConnections. */
  readonly work: KeptConnections['work']
  readonly rest: KeptConnections['rest']
}

/** Ways to open connections to engines. */
export interface WaysToEngines {
  /** Throws EngineUnreachable, AgentUnreachable, StaleEpoch. */
  open(shard: string, epoch: Epoch): Promise<Tunnel>
  /** Throws the same. */
  move(shards: MovingShards, epoch: Epoch): Promise<PreparedMove>
  /** Returns the present life of the agent. Throws AgentUnreachable, StaleEpoch. */
  life(epoch: Epoch): Promise<string>
}

/** Creates a pool: one connection for each shard, opened on demand, kept while its database is worked on. */
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
    under: (epoch) => enginesUnder(epoch, kept, open, ways),
    work: kept.work,
    rest: kept.rest,
    [Symbol.dispose]: kept[Symbol.dispose],
  }
}

/** Opens another connection. */
type Open = (shard: ShardAt, epoch: Epoch, onMessage?: () => void) => Promise<EngineConnection>

function enginesUnder(
  epoch: Epoch,
  kept: KeptConnections,
  open: Open,
  { move }: Pick<WaysToEngines, 'move'>,
): Engines {
  const check = ({ uid }: Pick<Database, 'uid'>) => {
    if (bucketOf(uid) === epoch.bucket) return
    throw new Error(
      `database ${uid} is not of bucket ${epoch.bucket}, under whose epoch it was to be reached`,
    )
  }
  const connectTo = async (database: Pick<Database, 'uid'>, shard: ShardAt, onMessage?: () => void) => {
    check(database)
    return await open(shard, epoch, onMessage)
  }
  const connect: Engines['connect'] = async (database, shard) => {
    const before = kept.find(shard, epoch)
    if (before !== undefined) return before
    kept.forget(shard.id)
    const connection = await connectTo(database, shard)
    // Turns and preparations may connect to the same shard concurrently: one of two new connections would
    // never be closed.
    const other = kept.find(shard, epoch)
    if (other === undefined) return kept.put(database.uid, shard, epoch, connection)
    connection[Symbol.dispose]()
    return other
  }
  return {
    connect,
    tryOn: tryingOn(connect),
    async listen(database, shard, channel, onMessage) {
      await using stack = new AsyncDisposableStack()
      const listener = stack.use(await connectTo(database, shard, onMessage))
      await listener.call('SSUBSCRIBE', channel)
      stack.move()
      return listener
    },
    async acknowledge(database, shard) {
      using replica = await connectTo(database, shard)
      // REPLCONF ACK has no answer on any engine: this promise gets the answer of the PING after it; then the
      // connection is closed.
      const acknowledged = replica.call('REPLCONF', 'GETACK', '*')
      replica.call('PING').catch(() => undefined)
      await acknowledged
    },
    async newestClient(database, shard) {
      using connection = await connectTo(database, shard)
      return Number(await connection.call('CLIENT', 'ID'))
    },
    async prepareMove(database, { from, to, others }) {
      check(database)
      const names = { primary: agentName(from), successor: agentName(to), others: others.map(agentName) }
      return await move(names, epoch)
    },
    forget: kept.forget,
  }
}

/** A missing answer blames the engine only if the agent was there all the time: else `checkAgent` throws. */
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

/** Returns `tryOn` for connections by `connect`. */
export function tryingOn(connect: Engines['connect']): Engines['tryOn'] {
  return (database, shard, work) => ifItAnswers(async () => work(await connect(database, shard)))
}

/** Returns the answer of an engine that may be dead; null if it gives none. Throws its errors. */
export async function ifItAnswers<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask()
  } catch (cause) {
    if (cause instanceof EngineUnreachable) return null
    throw cause
  }
}
