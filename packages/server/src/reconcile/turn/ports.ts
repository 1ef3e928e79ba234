import type { HandoverTape } from '@fairlead/api'
import type { Logger } from 'pino'
import type { FormerAccess } from '../../core/access/former-access.ts'
import type { LimitBefore } from '../../core/carry-over/sync-room.ts'
import type { AuditEvent } from '../../core/identity/audit-record.ts'
import type { Queued } from '../../core/requests/admit-upgrade.ts'
import type { Action, ActionNews, Certificate } from '../../core/state/action.ts'
import type { Database, History, Reserved, ShardPlace, ShardRecord } from '../../core/state/database.ts'
import type { Handover } from '../../core/state/handover.ts'
import type { LaneRecord } from '../../core/state/lane-record.ts'
import type { PortRange } from '../../core/state/port-range.ts'
import type { WayBack } from '../../core/state/way-back.ts'
import type { AgentLink } from '../../nodes/agent-link.ts'
import type { ProxyLink } from '../../nodes/proxy-link.ts'
import type { Tls } from '../../tls/tls-service.ts'
import type { Engines } from './engines.ts'
import type { OrdersToServe } from './orders-to-serve.ts'
import type { Preparations } from './preparations.ts'
import type { Takeovers } from './take-over.ts'
import type { Time } from './time.ts'
import type { Trials } from './trials.ts'

/*
 * The ports of a turn. Each function names the ports and operations that it uses in its signature; a caller
 * has at least these. No store, socket or file is known here, so a model in memory can replace each port.
 */

/** Connections to engines as their administrator. */
export interface EngineConnections<Use extends keyof Engines = 'connect'> {
  readonly engines: Pick<Engines, Use>
}

/** Orders to the agent of the node. */
export interface NodeAgent<Order extends keyof AgentLink> {
  readonly agent: Pick<AgentLink, Order>
}

/** Orders to the node's proxy, which has the endpoints and their clients. */
export interface EndpointProxy<Order extends keyof ProxyLink> {
  readonly proxy: Pick<ProxyLink, Order>
}

/** Work before a step, concurrent with the turns. */
export interface Preparing {
  readonly preparations: Pick<Preparations, 'ask' | 'end' | 'change'>
}

/** Successors that certainly got no order to serve. */
export interface OrdersGiven<Use extends keyof OrdersToServe> {
  readonly ordersToServe: Pick<OrdersToServe, Use>
}

/** Orders to take over in cluster mode. */
export interface TakingOver {
  readonly takeovers: Takeovers
}

/** Tests builds and modules before a shard runs them. */
export interface Trying<Use extends keyof Trials = keyof Trials> {
  readonly trials: Pick<Trials, Use>
}

/** Certificates for TLS. */
export interface Certifying<Of extends 'current' | 'shards'> {
  readonly tls: Pick<Tls, Of>
}

/** Addresses of endpoints. */
export interface Reaching {
  /** Besides loopback. */
  readonly endpointAddresses: readonly string[]
}

/** TCP ports of shards and endpoints. */
export interface Placing {
  readonly portRange: { readonly from: number; readonly to: number }
  /** Sequential: a free port is recorded before the next search. */
  readonly runExclusive: <T>(place: () => Promise<T>) => Promise<T>
}

/** Epoch under which this server holds a database, if several share a store. Throws LeaseLost otherwise. */
export interface Holding {
  readonly epochOf: (databaseUid: number) => number
}

/** Unix milliseconds. */
export interface Clock {
  readonly now: () => number
}

/** Measures durations, and waits. */
export interface PassingTime {
  readonly time: Time
}

/** The log. */
export interface Log {
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
}

/** Recorded databases. */
export interface DatabaseRecords<Use extends keyof DatabasesOnRecord> {
  readonly databases: Pick<DatabasesOnRecord, Use>
}

/** Recorded shards. */
export interface ShardRecords<Use extends keyof ShardsOnRecord> {
  readonly shards: Pick<ShardsOnRecord, Use>
}

/** Recorded actions. */
export interface ActionRecords<Use extends keyof ActionsOnRecord = 'warn'> {
  readonly actions: Pick<ActionsOnRecord, Use>
}

/** Recorded handovers. */
export interface HandoverRecords<Use extends keyof HandoversOnRecord> {
  readonly handovers: Pick<HandoversOnRecord, Use>
}

/** The audit. */
export interface AuditTrail {
  readonly audit: { append(event: AuditEvent, at: string): Promise<void> }
}

/** Recorded databases. Each change is atomic, and on record when its promise resolves. Times: ISO 8601. */
export interface DatabasesOnRecord {
  /** Returns the reservations of all databases. */
  listReserved(): Promise<readonly Reserved[]>
  /** Returns the endpoint ports of all databases. */
  portsWithin(range: PortRange): Promise<readonly number[]>
  countPortsWithin(range: PortRange): Promise<number>
  get(uid: number): Promise<Database | undefined>
  setPrimary(uid: number, group: number, shard: number): Promise<void>
  setHistories(uid: number, histories: readonly GroupHistory[]): Promise<void>
  /** Advances recorded offsets of primaries, unless the role moves or another history is on record. */
  advanceHistories(seen: readonly StreamSeen[]): Promise<void>
  setEndpointPort(uid: number, port: number): Promise<void>
  forgetFormer(uid: number, ended: readonly FormerAccess[]): Promise<void>
  setObstacle(uid: number, obstacle: string | null): Promise<void>
}

/** Offset of a primary's stream: the shard's process, its history, and the bytes. */
export interface StreamSeen {
  readonly shard: number
  readonly runId: string
  readonly replid: string
  readonly offset: number
}

/** Last known offset in the history of a group's primary. */
export interface GroupHistory {
  readonly group: number
  readonly history: History
}

/** Shards in the store. */
export interface ShardsOnRecord {
  /** Returns the shards of all databases. */
  list(): Promise<readonly ShardPlace[]>
  /** Returns the ports of all databases' shards, including TLS ports. */
  portsWithin(range: PortRange): Promise<readonly number[]>
  countPortsWithin(range: PortRange): Promise<number>
  /** Returns the memory reserved for shards without their data yet, over all databases. */
  reservedBytes(): Promise<number>
  /** Returns those shards for which memory is reserved. */
  withReservation(ids: readonly number[]): Promise<readonly number[]>
  /** Returns the distinct databases of these shards; unrecorded shards are left out. */
  databasesOf(ids: readonly number[]): Promise<readonly number[]>
  listOf(databaseUid: number): Promise<readonly ShardRecord[]>
  /** Throws if the port is taken on that node. */
  insert(shard: Omit<ShardRecord, 'id' | 'leaving'>, at: string): Promise<ShardRecord>
  /** Sets what its next process runs, the primary to follow, and its TLS port if any. */
  setNext(id: number, next: Pick<ShardRecord, 'runs' | 'follows' | 'tlsPort'>): Promise<void>
  setFollows(id: number, follows: number | null): Promise<void>
  setLeaving(id: number, leaving: boolean): Promise<void>
  endReservations(ids: readonly number[]): Promise<void>
  limitBefore(id: number): Promise<LimitBefore | null>
  setLimitBefore(id: number, before: LimitBefore | null): Promise<void>
  remove(id: number): Promise<void>
}

/** Actions in the store. */
export interface ActionsOnRecord {
  get(uid: string): Promise<Action | undefined>
  /** Returns the running action of a database, if any. */
  active(databaseUid: number): Promise<Action | undefined>
  /**
   * Returns the active actions of all databases. With `including` (an action's uid) the answer may be
   * slightly old, but contains that action.
   */
  listActive(including?: string): Promise<readonly (Queued & { readonly databaseUid: number })[]>
  /** Returns the lanes of an action, by group. */
  lanes(uid: string): Promise<readonly LaneRecord[]>
  update(uid: string, news: ActionNews, at: string): Promise<void>
  /** Adds a warning, once. */
  warn(uid: string, warning: string, at: string): Promise<void>
  /**
   * Called before a group's last standby is given up: no rollback is accepted afterwards. Returns false,
   * without a change, if a rollback was accepted before.
   */
  closeWayBack(action: Action, wayBack: WayBack, at: string): Promise<boolean>
  /** Ends an action and applies its goal to the database's record, unless it has another goal by now. */
  finish(action: Action, database: Database, at: string): Promise<void>
}

/** Handovers in the store. */
export interface HandoversOnRecord {
  /** Returns the open handover of a group. */
  open(databaseUid: number, group: number): Promise<Handover | undefined>
  /** Returns for each group the open handover, or the last one that moved the role. */
  last(databaseUid: number): Promise<ReadonlyMap<number, Handover>>
  /** Called before anything stops. */
  intend(intent: Omit<Handover, 'id' | 'released' | 'closed' | 'certificate'>): Promise<Handover>
  /** Records the certificate and the new primary, after the role has moved. */
  certify(handover: Handover, certificate: Certificate): Promise<void>
  release(id: number): Promise<void>
  close(id: number, certificate: Certificate | null, at: string): Promise<void>
  /** Keeps the endpoint's counts around it. */
  keepTape(id: number, tape: HandoverTape): Promise<void>
}
