import type { Address } from '@fairlead/api'
import { isSameAddress } from '@fairlead/engine'
import type { History, SlotRange } from './database.ts'
import type { Limits } from './engine-memory.ts'
import type { Goal, Runs } from './goal.ts'
import type { Obstacle } from './obstacle.ts'
import type { Saving } from './saving.ts'

/** The observation of a database at one moment: the whole input of every decision. */
export interface ObservedDatabase {
  /** By number. A database that is not sharded has one. */
  readonly groups: readonly ObservedGroup[]
}

/** The observation of one group: a primary and its replicas, and the slots they serve. */
export interface ObservedGroup {
  readonly group: number
  /** The range of slots that the group serves; null when the database is not in cluster mode. */
  readonly slots: SlotRange | null
  /** Sorted by id. */
  readonly shards: readonly ObservedShard[]
  /** The shard that the store names as primary: where the endpoint points. */
  readonly recordedPrimary: number | null
  /** The point of the primary's history at the last look, from the store. */
  readonly history: History | null
  /** A handover whose intent is on record and which is not closed. */
  readonly handover: OpenHandover | null
  /** The shard that handed over last, and its state then; null before the first handover of an action. */
  readonly standby: Standby | null
  /** The last handover if the proxy may have its tape: how long clients were held, by which it is known, and the time since then. */
  readonly tapeDue?: { readonly handover: number; readonly heldMs: number; readonly ageMs: number }
  /** The limits that the database grants to each of its shards. */
  readonly limits: Limits
  readonly node: NodeRoom
}

/** An old primary at the moment when it became a replica: a rollback returns to it. */
export interface Standby {
  readonly shard: number
  readonly runId: string
  /** Commands of its new primary that it could not carry out, until then. */
  readonly errorReplies: number
}

/** A handover that is on record and not closed. */
export interface OpenHandover {
  readonly from: number
  readonly to: number
  /** Everything that was stopped has been released. */
  readonly released: boolean
  /** Time since the intent was recorded. */
  readonly ageMs: number
}

/** Room on the node where a further shard would be placed. */
export interface NodeRoom {
  readonly memoryFreeBytes: number
  readonly diskFreeBytes: number
}

/** One shard: its record in the store, the agent's report, and the engine's own report. */
export interface ObservedShard {
  readonly id: number
  readonly address: Address
  /** What it should run, by the store. */
  readonly wanted: Runs
  /** What its process was started with, by the agent's report; null while the agent does not know the shard. */
  readonly revision: string | null
  /** The shard that it follows when its process starts, by the spec that the agent holds; null: none. */
  readonly follows: number | null
  readonly process: 'absent' | 'starting' | 'running' | 'stopping' | 'exited' | 'failed'
  /** Its retirement has begun. */
  readonly leaving: boolean
  /** Why the process is in this state, in the agent's words. */
  readonly processWhy: string
  /** It is `failed` because another process has its port. */
  readonly portTaken?: boolean
  /** How the last process ended, if several in a row died before they answered. Null or absent: the next process will probably start. */
  readonly failsToStart?: string | null
  /** Its last end was ordered, not a crash: its disk holds everything. */
  readonly endedCleanly: boolean
  /** Its process replaced one that had died: what that process had not saved is lost. */
  readonly beganAfterDeath: boolean
  /** Its process has ended, and its agent starts it again only when the spec is sent again. */
  readonly asleep: boolean
  /** The engine's last log line about a failure of replication or persistence; '' when there is none. */
  readonly trouble: string
  /** True: `trouble` says that it cannot read the data of a full sync; each further attempt would fail in the same way. */
  readonly cannotRead?: boolean
  /** True: since it last served a full sync, it could twice not write its data in the format of a follower. */
  readonly cannotSend?: boolean
  /** The last line of its process in its log, for people. Absent or empty: none is known. */
  readonly lastLogLine?: string
  /** The limits with which its next process would start, by the spec that the agent holds; null while the agent does not know the shard. */
  readonly next: Pick<EngineMemory, 'limitBytes' | 'evictionPolicy'> | null
  /** What its agent observes of a process that does not answer. Null or absent: it answers, or there is no process. */
  readonly silence?: Silence | null
  /** The certificate that its process shows to other shards, by its agent's report. Null or absent: none. */
  readonly certificate?: string | null
  /** The files in its data folder, by its agent's last look; null while that is not known. */
  readonly disk: Disk | null
  /** Null while the engine does not answer. */
  readonly engine: EngineState | null
}

/** A process that does not answer, as its agent sees it. */
export interface Silence {
  /** True: it has done nothing for too long, and its agent will not end it without an order. A busy process is not hung. */
  readonly hung: boolean
  /** True: its disk holds data of the database, so that not all data are lost with the process. */
  readonly onDisk: boolean
  /** Milliseconds since its first question without an answer. */
  readonly forMs: number
  /** Start of the process in Unix milliseconds: identifies it. */
  readonly startedAt: number
}

/** The files that the next process of a shard would find. Times in Unix milliseconds, by the clock of its node. */
export interface Disk {
  readonly lookedAt: number
  readonly snapshot: Snapshot | null
  /** `whole`: the append-only file holds each write of the last process. `older`: it is of an earlier process. */
  readonly aof: 'none' | 'older' | 'whole'
  /** In cluster mode, the epoch with which its last process served slots; null: it served none. */
  readonly claim: number | null
}

/** The point of the history at which it was taken; null: taken before the engine had a replica. */
export interface Snapshot {
  readonly replid: string | null
  readonly offset: number | null
}

/** What an engine reported at one moment, from INFO and similar commands. */
export interface EngineState {
  /** Identifies the process: a new one after each start. */
  readonly runId: string
  /** For how long the process runs, by its own clock. */
  readonly upSeconds: number
  /** `blank`: started in cluster mode, and has neither slots nor a primary yet. Only the record says to which group it belongs. */
  readonly role: 'primary' | 'replica' | 'blank'
  readonly primary: Address | null
  readonly link: 'up' | 'down'
  /** A full sync is being received. */
  readonly syncing: boolean
  /** How much of it has arrived, in bytes; `total` is null where the engine does not know it. Null or absent: none is received, or the engine does not say. */
  readonly sync?: { readonly done: number; readonly total: number | null } | null
  readonly loading: boolean
  readonly replid: string
  readonly replid2: string
  readonly secondOffset: number
  readonly offset: number
  /** A text that changes with each write, while `offset` also counts PINGs of the engine. Absent: not known. */
  readonly writes?: string
  readonly usedMemoryBytes: number
  readonly memory: EngineMemory
  /** Over all its databases. */
  readonly keys: number
  readonly aof: 'off' | 'rewriting' | 'on'
  readonly saving: Saving
  /** True: it has sent or received a stream since its process began, so that it holds more than the data of its disk. */
  readonly streamed: boolean
  /** Of a primary: the followers to which it sends no stream yet after a full sync, until they report their offset. Absent: none. */
  readonly heldBack?: readonly Address[]
  /** How many commands of the stream have failed: from the first one on, its data differ from its primary's. */
  readonly errorReplies: number
  /** Null when it is not in cluster mode. */
  readonly cluster: ClusterView | null
}

/** The memory that an engine may use and uses, as it reports it, in bytes. */
export interface EngineMemory {
  /** `maxmemory`; 0 is unlimited. */
  readonly limitBytes: number
  readonly evictionPolicy: string
  /** The largest size of its backlog; if `hasBacklog` is false, it creates the backlog for its first replica. */
  readonly backlogBytes: number
  readonly hasBacklog: boolean
  /** The memory that counts against its limit, without replication: data, connections, and the memory of an empty engine. */
  readonly dataBytes: number
  /** The part of `dataBytes` that connections of clients take. */
  readonly clientBytes: number
}

/** What a process in cluster mode knows of the cluster. Its view may be some seconds old, because gossip takes time. */
export interface ClusterView {
  /** Its own node id. */
  readonly id: string
  /** Whether it serves: it sees the owners of the slots. False for some seconds after its start, and while it cannot reach the others. */
  readonly serves: boolean
  readonly nodes: readonly ClusterNode[]
}

/** A node as a shard sees it in `CLUSTER NODES`. */
export interface ClusterNode {
  readonly id: string
  readonly address: Address
  /** True: it was just introduced, and its id is not its real one yet. */
  readonly handshake: boolean
  /** The id of the node that it follows; null for a primary. */
  readonly primary: string | null
  readonly epoch: number
  /** Ranges as the engines write them, in order: "0-5460 7000". Empty for a replica. */
  readonly slots: string
}

/** The group with this number. Throws when there is none: callers have the number from `seen`. */
export function findGroup({ groups }: ObservedDatabase, number: number): ObservedGroup {
  const group = groups.find((one) => one.group === number)
  if (group === undefined) throw new Error(`there is no group ${number}`)
  return group
}

/** A shard that answers. */
export type LiveShard = ObservedShard & { readonly engine: EngineState }

/** Whether the engine of this shard answered. */
export function isLive(shard: ObservedShard): shard is LiveShard {
  return shard.engine !== null
}

/** Whether this address is the shard's, as it is written on record. */
export function isAt(address: Address | null, shard: ObservedShard): boolean {
  return isSameAddress(shard.address, address)
}

/** Whether the shard is a replica of `primary` to which the stream flows. */
export function isLinked(shard: ObservedShard, primary: ObservedShard): boolean {
  if (!isLive(shard) || isHeldBack(shard, primary)) return false
  const { role, link } = shard.engine
  return role === 'replica' && link === 'up' && isAt(shard.engine.primary, primary)
}

/** Whether its link is up, but `primary` sends it no writes yet: if `primary` died, those writes would be lost. */
export function isHeldBack(shard: ObservedShard, primary: ObservedShard): boolean {
  return primary.engine?.heldBack?.some((address) => isAt(address, shard)) ?? false
}

/**
 * In cluster mode a process starts in the role in which the last one ended, whatever it is asked to follow.
 * A shard that took over and died before that was recorded has the highest epoch: every shard would follow it,
 * and become empty, too.
 */
export function claimsSlots({ process, asleep, follows }: ObservedShard, { slots }: ObservedGroup): boolean {
  return slots !== null && ['exited', 'failed'].includes(process) && (asleep || follows === null)
}

/** A `CLUSTER MEET`: both shards learn each other's node id, role and slots immediately, without gossip. */
export interface Greeting {
  readonly by: number
  readonly to: number
}

/** One effect on the world, with its reason. Steps are idempotent, and each ends in an observation. */
export type Step = (
  | { readonly kind: 'add-shard'; readonly runs: Runs; readonly follow: number | null }
  | { readonly kind: 'start-shard'; readonly shard: number; readonly follow: number | null }
  | { readonly kind: 'restart-shard'; readonly shard: number; readonly runs: Runs; readonly follow: number }
  /** `warns`: the goal had a place for it, so people are told. */
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
  /** `shard` has to know others, or to be known to them. `missing`: how many of these are left, if they are counted. */
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
 * What to do now. `do`: a step; `late`: it was tried for so long that a person should look. `wait`: nothing, look again; as long as its `progress` changes, the wait has no deadline. `hold`: nothing is in the way,
 * but it waits for a person, the time or another group. `stuck`: only a person can resolve it; `retry` is tried now and then.
 * `hopeless`: the goal cannot be reached; nothing old was touched, or all of it can be undone.
 */
export type Verdict =
  | { readonly kind: 'done' }
  | { readonly kind: 'do'; readonly step: Step; readonly late?: Obstacle }
  | ({ readonly kind: 'wait'; readonly shard: number; readonly progress?: number } & Obstacle)
  | ({ readonly kind: 'hold'; readonly on: 'person' | 'time' | 'group' } & Obstacle)
  | ({ readonly kind: 'stuck'; readonly retry?: Step } & Obstacle)
  | ({ readonly kind: 'hopeless' } & Obstacle)

export type { Goal }
