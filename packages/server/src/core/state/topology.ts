import type { Address, ReportedSaving } from '@fairlead/api'
import { isSameAddress } from '@fairlead/engine'
import type { History, SlotRange } from './database.ts'
import type { Limits } from './engine-memory.ts'
import type { Goal, Runs } from './goal.ts'
import type { Obstacle } from './obstacle.ts'
import type { Saving } from './saving.ts'

/** Observation of a database: the whole input of every decision. */
export interface ObservedDatabase {
  /** Sorted by number; one without sharding. */
  readonly groups: readonly ObservedGroup[]
}

/** Observation of one group: a primary, its replicas, and their slots. */
export interface ObservedGroup {
  readonly group: number
  /** Range of slots; null without cluster mode. */
  readonly slots: SlotRange | null
  /** Sorted by id. */
  readonly shards: readonly ObservedShard[]
  /** Primary in the store: the endpoint's target. */
  readonly recordedPrimary: number | null
  /** Point of the primary's history at the last look, from the store. */
  readonly history: History | null
  /** A recorded handover that is not closed. */
  readonly handover: OpenHandover | null
  /** The shard that handed over last, and its state then; null before an action's first handover. */
  readonly standby: Standby | null
  /** Set if the proxy may have the last handover's tape, identified by `heldMs`. `ageMs`: time since. */
  readonly tapeDue?: { readonly handover: number; readonly heldMs: number; readonly ageMs: number }
  /** Limits that the database grants to each of its shards. */
  readonly limits: Limits
  readonly node: NodeRoom
}

/** An old primary when it became a replica: a rollback returns to it. */
export interface Standby {
  readonly shard: number
  readonly runId: string
  /** Commands of its new primary that it had failed to execute until then. */
  readonly errorReplies: number
}

/** A recorded handover that is not closed. */
export interface OpenHandover {
  readonly from: number
  readonly to: number
  /** True if everything that was stopped has been released. */
  readonly released: boolean
  /** Time since the recorded intent. */
  readonly ageMs: number
}

/** Room on the node for an additional shard. */
export interface NodeRoom {
  readonly memoryFreeBytes: number
  readonly diskFreeBytes: number
}

/** One shard: its record in the store, the agent's report, and the engine's report. */
export interface ObservedShard {
  readonly id: number
  readonly address: Address
  /** Wanted process, from the store. */
  readonly wanted: Runs
  /** Revision of its process, from the agent; null if the agent does not know the shard. */
  readonly revision: string | null
  /** The shard to follow at its start, from the agent's spec; null: none. */
  readonly follows: number | null
  readonly process: 'absent' | 'starting' | 'running' | 'stopping' | 'exited' | 'failed'
  /** True if its retirement has begun. */
  readonly leaving: boolean
  /** Reason of the process state, from the agent. */
  readonly processWhy: string
  /** True if it is `failed` because another process has its port. */
  readonly portTaken?: boolean
  /** Last end, if several processes in a row died before they answered; otherwise null or absent. */
  readonly failsToStart?: string | null
  /** True if its last end was ordered, no crash: its disk holds everything. */
  readonly endedCleanly: boolean
  /** True if its process replaced one that died: unsaved data of that one are lost. */
  readonly beganAfterDeath: boolean
  /** True if its process has ended, and its agent restarts it only when the spec is sent again. */
  readonly asleep: boolean
  /** The engine's last log line about a failure of replication or persistence; '' if none. */
  readonly trouble: string
  /** True if `trouble` shows that it cannot read a full sync: each further attempt would fail. */
  readonly cannotRead?: boolean
  /** True if since its last full sync it could twice not write a follower's format. */
  readonly cannotSend?: boolean
  /** Last log line of its process, for people. Absent or empty if unknown. */
  readonly lastLogLine?: string
  /** Limits of its next process, from the agent's spec; null if the agent does not know it. */
  readonly next: Pick<EngineMemory, 'limitBytes' | 'evictionPolicy'> | null
  /** Mark of the passwords of the database's user, from the agent. Null or absent: unknown. */
  readonly passwords?: string | null
  /** How its process saves its data, or its next one, from the agent. Null or absent: unknown. */
  readonly saving?: ReportedSaving | null
  /** Mark of the users of its process, from the agent. Null or absent: unknown. */
  readonly users?: string | null
  /** The agent's observation of a silent process. Null or absent: it answers, or there is none. */
  readonly silence?: Silence | null
  /** Certificate of its process for other shards, from the agent. Null or absent: none. */
  readonly certificate?: string | null
  /** Files in its data folder, from the agent's last look; null if unknown. */
  readonly disk: Disk | null
  /** Null while the engine does not answer. */
  readonly engine: EngineState | null
}

/** A process that does not answer, as seen by its agent. */
export interface Silence {
  /** True if idle for too long; its agent will not end it without an order. A busy process is not hung. */
  readonly hung: boolean
  /** True if its disk holds data of the database, so that not all are lost with the process. */
  readonly onDisk: boolean
  /** Ms since its first unanswered request. */
  readonly forMs: number
  /** Start of the process (Unix ms); identifies it. */
  readonly startedAt: number
}

/** Files for the next process of a shard. Times in Unix ms, by the node's clock. */
export interface Disk {
  readonly lookedAt: number
  readonly snapshot: Snapshot | null
  /** `whole`: the append-only file has each write of the last process. `older`: of an earlier one. */
  readonly aof: 'none' | 'older' | 'whole'
  /** In cluster mode, the epoch of its last process with slots; null: it had none. */
  readonly claim: number | null
}

/** Point of the history in a snapshot; null if taken before the engine had a replica. */
export interface Snapshot {
  readonly replid: string | null
  readonly offset: number | null
}

/** An engine's report, from INFO and similar commands. */
export interface EngineState {
  /** Identifies the process: a new one after each start. */
  readonly runId: string
  /** Uptime of the process, by its clock. */
  readonly upSeconds: number
  /** `blank`: started in cluster mode, without slots or a primary. Only the record has its group. */
  readonly role: 'primary' | 'replica' | 'blank'
  readonly primary: Address | null
  readonly link: 'up' | 'down'
  /** True while it receives a full sync. */
  readonly syncing: boolean
  /** Received bytes of it; `total` is null if unknown. Null or absent: none is received or reported. */
  readonly sync?: { readonly done: number; readonly total: number | null } | null
  readonly loading: boolean
  readonly replid: string
  readonly replid2: string
  readonly secondOffset: number
  readonly offset: number
  /** Changes with each write, while `offset` also counts the engine's PINGs. Absent if unknown. */
  readonly writes?: string
  readonly usedMemoryBytes: number
  readonly memory: EngineMemory
  /** Keys of all its databases. */
  readonly keys: number
  readonly aof: 'off' | 'rewriting' | 'on'
  readonly saving: Saving
  /** True if its process has sent or received a stream, so that it holds more than its disk's data. */
  readonly streamed: boolean
  /** A primary's followers without a stream after a full sync, until they report an offset. Absent: none. */
  readonly heldBack?: readonly Address[]
  /** Failed commands of the stream: from the first one on, its data differ from its primary's. */
  readonly errorReplies: number
  /** Null without cluster mode. */
  readonly cluster: ClusterView | null
}

/** Memory limits and use of an engine, as reported, in bytes. */
export interface EngineMemory {
  /** `maxmemory`; 0 is unlimited. */
  readonly limitBytes: number
  readonly evictionPolicy: string
  /** Largest backlog; without `hasBacklog`, created for its first replica. */
  readonly backlogBytes: number
  readonly hasBacklog: boolean
  /** Memory that counts against its limit, without replication: data, connections, empty engine. */
  readonly dataBytes: number
  /** Part of `dataBytes` for clients' connections. */
  readonly clientBytes: number
}

/** A process's view of the cluster. It may be some seconds old, because gossip takes time. */
export interface ClusterView {
  /** Node id of the process. */
  readonly id: string
  /** True if it sees the owners of all slots. False for seconds after its start, or if isolated. */
  readonly serves: boolean
  readonly nodes: readonly ClusterNode[]
}

/** A node in a shard's `CLUSTER NODES`. */
export interface ClusterNode {
  readonly id: string
  readonly address: Address
  /** True if just introduced, with a temporary id. */
  readonly handshake: boolean
  /** Id of the node that it follows; null for a primary. */
  readonly primary: string | null
  readonly epoch: number
  /** Ranges in engines' format, in order: "0-5460 7000". Empty for a replica. */
  readonly slots: string
}

/** Returns the group with this number. Throws if there is none: callers have the number from `seen`. */
export function findGroup({ groups }: ObservedDatabase, number: number): ObservedGroup {
  const group = groups.find((one) => one.group === number)
  if (group === undefined) throw new Error(`there is no group ${number}`)
  return group
}

/** A shard that answers. */
export type LiveShard = ObservedShard & { readonly engine: EngineState }

/** True if the engine of this shard answered. */
export function isLive(shard: ObservedShard): shard is LiveShard {
  return shard.engine !== null
}

/** True if this is the shard's recorded address. */
export function isAt(address: Address | null, shard: ObservedShard): boolean {
  return isSameAddress(shard.address, address)
}

/** True if the shard is a replica of `primary` with a flowing stream. */
export function isLinked(shard: ObservedShard, primary: ObservedShard): boolean {
  if (!isLive(shard) || isHeldBack(shard, primary)) return false
  const { role, link } = shard.engine
  return role === 'replica' && link === 'up' && isAt(shard.engine.primary, primary)
}

/** True if its link is up without a stream yet: if `primary` died, later writes would be lost. */
export function isHeldBack(shard: ObservedShard, primary: ObservedShard): boolean {
  return primary.engine?.heldBack?.some((address) => isAt(address, shard)) ?? false
}

/**
 * True if a started process would claim slots: in cluster mode it starts in its predecessor's last role. A
 * shard that took over and died unrecorded has the highest epoch: all would follow it and be emptied.
 */
export function claimsSlots({ process, asleep, follows }: ObservedShard, { slots }: ObservedGroup): boolean {
  return slots !== null && ['exited', 'failed'].includes(process) && (asleep || follows === null)
}

/** A `CLUSTER MEET`: both shards learn each other's node id, role and slots immediately. */
export interface Greeting {
  readonly by: number
  readonly to: number
}

/** One idempotent effect on the world, with its reason; ends in an observation. */
export type Step = (
  | { readonly kind: 'add-shard'; readonly runs: Runs; readonly follow: number | null }
  | { readonly kind: 'start-shard'; readonly shard: number; readonly follow: number | null }
  | { readonly kind: 'restart-shard'; readonly shard: number; readonly runs: Runs; readonly follow: number }
  /** `warns`: the goal had a place for it, so people are notified. */
  | { readonly kind: 'retire-shard'; readonly shard: number; readonly warns?: true }
  | { readonly kind: 'end-process'; readonly shard: number; readonly startedAt: number }
  | { readonly kind: 'restart-primary'; readonly shard: number; readonly runs: Runs }
  | { readonly kind: 'follow'; readonly shard: number; readonly primary: number }
  | { readonly kind: 'promote'; readonly shard: number }
  | { readonly kind: 'take-back'; readonly shard: number; readonly slots: SlotRange }
  | { readonly kind: 'fence'; readonly shards: readonly number[] }
  | { readonly kind: 'enable-aof'; readonly shard: number }
  | { readonly kind: 'save-snapshot'; readonly shard: number }
  | { readonly kind: 'hand-over'; readonly from: number; readonly to: number }
  | { readonly kind: 'release-handover'; readonly primary: number }
  | { readonly kind: 'seal-handover' }
  /** `shard` must learn of others or be introduced to them. `missing`: number left, if counted. */
  | {
      readonly kind: 'meet'
      readonly greetings: readonly Greeting[]
      readonly shard: number
      readonly missing?: number
    }
  | { readonly kind: 'assign-slots'; readonly shard: number; readonly slots: SlotRange }
  | { readonly kind: 'forget-node'; readonly node: string; readonly shards: readonly number[] }
  | { readonly kind: 'record-primary'; readonly shard: number }
  | { readonly kind: 'record-follows'; readonly shard: number; readonly follow: number | null }
) & { readonly why: string }

/**
 * The next verdict.
 * - `do`: a step; `late`: tried for so long that a person should look.
 * - `wait`: look again; without a deadline while `progress` changes.
 * - `hold`: no obstacle, but it waits for a person, the time or another group.
 * - `stuck`: only a person can resolve it; `retry` is tried periodically.
 * - `hopeless`: the goal is unreachable; nothing old was touched, or all can be undone.
 */
export type Verdict =
  | { readonly kind: 'done' }
  | { readonly kind: 'do'; readonly step: Step; readonly late?: Obstacle }
  | ({ readonly kind: 'wait'; readonly shard: number; readonly progress?: number } & Obstacle)
  | ({ readonly kind: 'hold'; readonly on: 'person' | 'time' | 'group' } & Obstacle)
  | ({ readonly kind: 'stuck'; readonly retry?: Step } & Obstacle)
  | ({ readonly kind: 'hopeless' } & Obstacle)

export type { Goal }
