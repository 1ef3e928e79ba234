import type { HandoverTape } from '@fairlead/api'
import type { Logger } from 'pino'
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
import type { Effect } from './effect.ts'
import type { Engines } from './engines.ts'
import type { OrdersToServe } from './orders-to-serve.ts'
import type { Preparations } from './preparations.ts'
import type { Takeovers } from './take-over.ts'
import type { Time } from './time.ts'
import type { Trials } from './trials.ts'

/*
 * The ports of a turn. A function names in its signature the ports that it uses, and what of each; a caller has
 * at least these. Nothing here knows a store, a socket or a file: a model in memory can stand behind each of them.
 */

/** Carries out effects on the world, each under its name. */
export interface EffectRunner {
  readonly effect: Effect
}

/** Connections to engines as their administrator. */
export interface EngineConnections<Use extends keyof Engines = 'connect'> {
  readonly engines: Pick<Engines, Use>
}

/** Orders to the agent of the node. */
export interface NodeAgent<Order extends keyof AgentLink> {
  readonly agent: Pick<AgentLink, Order>
}

/** Orders to the proxy of the node: it has the endpoints, and their clients. */
export interface EndpointProxy<Order extends keyof ProxyLink> {
  readonly proxy: Pick<ProxyLink, Order>
}

/** Work that goes on beside the turns before a step. */
export interface Preparing {
  readonly preparations: Pick<Preparations, 'ask' | 'end' | 'change'>
}

/** Which successors have certainly not been told to serve. */
export interface OrdersGiven<Use extends keyof OrdersToServe> {
  readonly ordersToServe: Pick<OrdersToServe, Use>
}

/** Orders to take over in cluster mode. */
export interface TakingOver {
  readonly takeovers: Takeovers
}

/** Builds and modules are tried before a shard is asked to run them. */
export interface Trying<Use extends keyof Trials = keyof Trials> {
  readonly trials: Pick<Trials, Use>
}

/** Certificates for TLS. */
export interface Certifying<Of extends 'current' | 'shards'> {
  readonly tls: Pick<Tls, Of>
}

/** Where shards and endpoints get their ports. */
export interface Placing {
  readonly portRange: { readonly from: number; readonly to: number }
  /** One after the other: a port that was found free is on record before the next is looked for. */
  readonly inTurn: <T>(place: () => Promise<T>) => Promise<T>
}

/** Under which epoch this server holds a database, where several share a store. Throws LeaseLost where it does not. */
export interface Holding {
  readonly epochOf: (databaseUid: number) => number
}

/** Unix milliseconds. */
export interface Clock {
  readonly now: () => number
}

/** Time that passes: how long something took, and waiting. */
export interface PassingTime {
  readonly time: Time
}

/** Where what happened is logged. */
export interface Log {
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
}

/** What is on record of databases. */
export interface DatabaseRecords<Use extends keyof DatabasesOnRecord> {
  readonly databases: Pick<DatabasesOnRecord, Use>
}

/** What is on record of shards. */
export interface ShardRecords<Use extends keyof ShardsOnRecord> {
  readonly shards: Pick<ShardsOnRecord, Use>
}

/** What is on record of actions. */
export interface ActionRecords<Use extends keyof ActionsOnRecord = 'get' | 'update'> {
  readonly actions: Pick<ActionsOnRecord, Use>
}

/** What is on record of handovers. */
export interface HandoverRecords<Use extends keyof HandoversOnRecord> {
  readonly handovers: Pick<HandoversOnRecord, Use>
}

/** The audit. */
export interface AuditTrail {
  readonly audit: { append(event: AuditEvent, at: string): Promise<void> }
}

/** Each change is on record when its promise resolves, whole or not at all. Times are ISO 8601 in UTC. */
export interface DatabasesOnRecord {
  /** The reservations of all databases. */
  listReserved(): Promise<readonly Reserved[]>
  /** The ports of the endpoints of all databases. */
  portsWithin(range: PortRange): Promise<readonly number[]>
  countPortsWithin(range: PortRange): Promise<number>
  get(uid: number): Promise<Database | undefined>
  setPrimary(uid: number, group: number, shard: number): Promise<void>
  setHistories(uid: number, histories: readonly GroupHistory[]): Promise<void>
  /** Advances the offsets on record of these primaries; not while their role moves, and not if another history is on record by now. */
  advanceHistories(seen: readonly StreamSeen[]): Promise<void>
  setEndpointPort(uid: number, port: number): Promise<void>
  setObstacle(uid: number, obstacle: string | null): Promise<void>
}

/** The offset of a primary's stream: the process of a shard, its history, and the bytes of it. */
export interface StreamSeen {
  readonly shard: number
  readonly runId: string
  readonly replid: string
  readonly offset: number
}

/** The last known offset of the history of a group's primary. */
export interface GroupHistory {
  readonly group: number
  readonly history: History
}

/** The shards in the store, as the reconciler reads and changes them. */
export interface ShardsOnRecord {
  /** The shards of all databases. */
  list(): Promise<readonly ShardPlace[]>
  /** The ports of the shards of all databases, those for TLS too. */
  portsWithin(range: PortRange): Promise<readonly number[]>
  countPortsWithin(range: PortRange): Promise<number>
  /** The memory that is reserved for shards that have not received their data yet, over all databases. */
  reservedBytes(): Promise<number>
  /** Those of the database's shards for which memory is reserved. */
  withReservation(ids: readonly number[]): Promise<readonly number[]>
  /** The databases of these shards, each once; shards that are not on record are left out. */
  databasesOf(ids: readonly number[]): Promise<readonly number[]>
  listOf(databaseUid: number): Promise<readonly ShardRecord[]>
  /** Throws when the port is taken on that node. */
  insert(shard: Omit<ShardRecord, 'id' | 'leaving'>, at: string): Promise<ShardRecord>
  /** What its next process runs, the primary that it follows, and its TLS port if it has one. */
  setNext(id: number, next: Pick<ShardRecord, 'runs' | 'follows' | 'tlsPort'>): Promise<void>
  setFollows(id: number, follows: number | null): Promise<void>
  setLeaving(id: number, leaving: boolean): Promise<void>
  endReservations(ids: readonly number[]): Promise<void>
  limitBefore(id: number): Promise<LimitBefore | null>
  setLimitBefore(id: number, before: LimitBefore | null): Promise<void>
  remove(id: number): Promise<void>
}

/** The actions in the store, as the reconciler reads and changes them. */
export interface ActionsOnRecord {
  get(uid: string): Promise<Action | undefined>
  /** The action that runs on a database, if one does. */
  active(databaseUid: number): Promise<Action | undefined>
  /** The active actions of all databases. With `including`, the uid of an action, the answer may be a moment old, but contains that action. */
  listActive(including?: string): Promise<readonly (Queued & { readonly databaseUid: number })[]>
  /** The lanes of an action, by group. */
  lanes(uid: string): Promise<readonly LaneRecord[]>
  update(uid: string, news: ActionNews, at: string): Promise<void>
  /**
   * The last standby of a group is about to be given up: from now on no rollback is accepted. False, and nothing is changed: the action has another goal by now,
   * because a rollback was accepted before.
   */
  closeWayBack(action: Action, wayBack: WayBack, at: string): Promise<boolean>
  /** Ends an action, and its goal takes effect on the record of its database; not if the action has another goal by now. */
  finish(action: Action, database: Database, at: string): Promise<void>
}

/** The handovers in the store, as the reconciler reads and changes them. */
export interface HandoversOnRecord {
  /** The handover of a group that is not closed yet. */
  open(databaseUid: number, group: number): Promise<Handover | undefined>
  /** By group of a database: the open handover, or the last one that moved the role. */
  last(databaseUid: number): Promise<ReadonlyMap<number, Handover>>
  /** Before anything stops. */
  intend(intent: Omit<Handover, 'id' | 'released' | 'closed' | 'certificate'>): Promise<Handover>
  /** The role has moved: records the certificate, and the new primary. */
  certify(handover: Handover, certificate: Certificate): Promise<void>
  release(id: number): Promise<void>
  close(id: number, certificate: Certificate | null, at: string): Promise<void>
  /** What the endpoint counted around it. */
  keepTape(id: number, tape: HandoverTape): Promise<void>
}
