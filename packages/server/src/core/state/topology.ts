import type { Address } from '@fairlead/api'
import { isSameAddress } from '@fairlead/engine'
import type { History, SlotRange } from './database.ts'
import type { Limits } from './engine-memory.ts'
import type { Goal, Runs } from './goal.ts'
import type { Obstacle } from './obstacle.ts'
import type { Saving } from './saving.ts'

/** What is seen of a database at one moment: the whole input of every decision. */
export interface ObservedDatabase {
  /** By number. A database that is not sharded has one. */
  readonly groups: readonly ObservedGroup[]
}

/** What is seen of one group: a primary and its replicas, and the slots they serve. */
export interface ObservedGroup {
  readonly group: number
  /** The range of slots that the group serves; null when the database is not in cluster mode. */
  readonly slots: SlotRange | null
  /** Sorted by id. */
  readonly shards: readonly ObservedShard[]
  /** The shard that the store names as primary: where the endpoint points. */
  readonly recordedPrimary: number | null
  /** How far the primary's history was at the last look, from the store. */
  readonly history: History | null
  /** A handover whose intent is on record and which is not closed. */
  readonly handover: OpenHandover | null
  /** The shard that handed over last, and its state then; null before the first handover of an action. */
  readonly standby: Standby | null
  /** What the database grants each of its shards. */
  readonly limits: Limits
  readonly node: NodeRoom
}

/** An old primary at the moment when it became a replica: what it can be rolled back to. */
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
  /** Everything that was stopped goes on again. */
  readonly released: boolean
  /** Time since the intent was recorded. */
  readonly ageMs: number
}

/** Room on the node where a further shard would be placed. */
export interface NodeRoom {
  readonly memoryFreeBytes: number
  readonly diskFreeBytes: number
}

/** One shard: its record in the store, the agent's report, and the engine's own words. */
export interface ObservedShard {
  readonly id: number
  readonly address: Address
  /** What the store wants it to run. */
  readonly wanted: Runs
  /** What its process was started with, by the agent's report; null while the agent knows nothing of it. */
  readonly revision: string | null
  /** The shard that it follows when its process starts, by the spec that the agent holds; null: none. */
  readonly follows: number | null
  readonly process: 'absent' | 'starting' | 'running' | 'stopping' | 'exited' | 'failed'
  /** It is on its way out: its retirement has begun. */
  readonly leaving: boolean
  /** Why the process is where it is, in the agent's words. */
  readonly processWhy: string
  /** It is `failed`, because another process has its port. */
  readonly portTaken?: boolean
  /** How the last of several processes ended that died before they answered. Null or absent: the next one may well start. */
  readonly failsToStart?: string | null
  /** Its last end was ordered, not a crash: its disk holds everything. */
  readonly endedCleanly: boolean
  /** Its process took the place of one that had died: what that one had not saved is gone. */
  readonly beganAfterDeath: boolean
  /** It ended, and its agent starts it only when it is put again. */
  readonly asleep: boolean
  /** The engine's last word in its log on replication or persistence gone wrong; '' when there is none. */
  readonly trouble: string
  /** `trouble` says that it cannot read the data of a full sync, and would say so again at each attempt. */
  readonly cannotRead?: boolean
  /** The last line of its process in its log, for people. Absent or empty: none is known. */
  readonly lastLogLine?: string
  /** What its next process would begin with, by the spec that the agent holds; null while the agent knows nothing of it. */
  readonly next: Pick<EngineMemory, 'limitBytes' | 'evictionPolicy'> | null
  /** What its agent sees of a process that does not answer. Null or absent: it answers, or there is none. */
  readonly silence?: Silence | null
  /** With which certificate its process proves itself to other shards, by its agent's word. Null or absent: with none. */
  readonly certificate?: string | null
  /** What lies in its data folder, by its agent's last look; null while that is not known. */
  readonly disk: Disk | null
  /** Null while the engine does not answer. */
  readonly engine: EngineState | null
}

/** A process that does not answer, as its agent sees it. */
export interface Silence {
  /** It has done nothing for too long, and its agent will not end it by itself. A busy one is not hung. */
  readonly hung: boolean
  /** Its disk holds data of the database: they are not all lost with it. */
  readonly onDisk: boolean
  /** Milliseconds since its first question without an answer. */
  readonly forMs: number
  /** Unix milliseconds: which process it is. */
  readonly startedAt: number
}

/** What the next process of a shard would find. Times in Unix milliseconds, by the clock of its node. */
export interface Disk {
  readonly lookedAt: number
  readonly snapshot: Snapshot | null
  /** `whole`: the append-only file holds each write of the last process. `older`: of one before it. */
  readonly aof: 'none' | 'older' | 'whole'
  /** In cluster mode, the epoch with which its last process served slots; null: it served none. */
  readonly claim: number | null
}

/** At which point of which history it was taken; null: before it had a replica. */
export interface Snapshot {
  readonly replid: string | null
  readonly offset: number | null
}

/** What an engine said of itself at one moment, from INFO and its like. */
export interface EngineState {
  /** Of the process: another one after each start. */
  readonly runId: string
  /** For how long the process runs, by its own clock. */
  readonly upSeconds: number
  /** `blank`: started in cluster mode, without slots and primary so far. It belongs to its group by record only. */
  readonly role: 'primary' | 'replica' | 'blank'
  readonly primary: Address | null
  readonly link: 'up' | 'down'
  /** A full sync is being received. */
  readonly syncing: boolean
  readonly loading: boolean
  readonly replid: string
  readonly replid2: string
  readonly secondOffset: number
  readonly offset: number
  /** Another text after writes: PINGs of the engine are in `offset`, too. Absent: not known. */
  readonly writes?: string
  readonly usedMemoryBytes: number
  readonly memory: EngineMemory
  /** Over all its databases. */
  readonly keys: number
  readonly aof: 'off' | 'rewriting' | 'on'
  readonly saving: Saving
  /** It has sent or received a stream since its process began: what it holds is not only what lay on its disk. */
  readonly streamed: boolean
  /** Of a primary: the followers to which it holds its stream back after a full sync, until it hears of them. Absent: none. */
  readonly heldBack?: readonly Address[]
  /** Commands that came with the stream and failed: from the first one on, its data differs from its primary's. */
  readonly errorReplies: number
  /** Null when it is not in cluster mode. */
  readonly cluster: ClusterView | null
}

/** What an engine may use and what it uses, by its own account, in bytes. */
export interface EngineMemory {
  /** `maxmemory`; 0 is unlimited. */
  readonly limitBytes: number
  readonly evictionPolicy: string
  /** As large as its backlog may become; one that `hasBacklog` is false of begins it with its first replica. */
  readonly backlogBytes: number
  readonly hasBacklog: boolean
  /** What counts against its limit and is not replication's: data, connections, and what an empty engine takes. */
  readonly dataBytes: number
  /** Of `dataBytes`, what the connections of clients take. */
  readonly clientBytes: number
}

/** What a process in cluster mode knows of the cluster. Its view lags behind: gossip takes up to some seconds. */
export interface ClusterView {
  /** Its own node id. */
  readonly id: string
  /** It serves: it sees the owners of the slots. False for some seconds after its start, and while it is cut off. */
  readonly serves: boolean
  readonly nodes: readonly ClusterNode[]
}

/** A node as a shard sees it in `CLUSTER NODES`. */
export interface ClusterNode {
  readonly id: string
  readonly address: Address
  /** It was just introduced: its id is not its real one yet. */
  readonly handshake: boolean
  /** The id of the node that it follows; null for a primary. */
  readonly primary: string | null
  readonly epoch: number
  /** Ranges as the engines write them, in order: "0-5460 7000". Empty for a replica. */
  readonly slots: string
}

/** Throws when there is none: callers have the number from `seen`. */
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

/** A replica of `primary` whose stream flows. */
export function isLinked(shard: ObservedShard, primary: ObservedShard): boolean {
  if (!isLive(shard) || isHeldBack(shard, primary)) return false
  const { role, link } = shard.engine
  return role === 'replica' && link === 'up' && isAt(shard.engine.primary, primary)
}

/** Its link is up, and yet `primary` sends it nothing of what is written: a death of `primary` would take all that along. */
export function isHeldBack(shard: ObservedShard, primary: ObservedShard): boolean {
  return primary.engine?.heldBack?.some((address) => isAt(address, shard)) ?? false
}

/**
 * In cluster mode a process starts in the role in which the last one ended, whatever it is asked to follow.
 * If it took over and died before that was recorded, it has the highest epoch: every shard would follow it,
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
  | { readonly kind: 'retire-shard'; readonly shard: number }
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
  | { readonly kind: 'meet'; readonly greetings: readonly Greeting[] }
  | { readonly kind: 'assign-slots'; readonly shard: number; readonly slots: SlotRange }
  | { readonly kind: 'forget-node'; readonly node: string; readonly shards: readonly number[] }
  | { readonly kind: 'record-primary'; readonly shard: number }
  | { readonly kind: 'record-follows'; readonly shard: number; readonly follow: number | null }
) & { readonly why: string }

/**
 * What to do now. `wait`: nothing, look again; as long as its `progress` moves, waiting has no end. `hold`: nothing stands in the way
 * but a person, the time or another group has to say go. `stuck`: only a person can resolve it; `retry` is tried now and then.
 * `hopeless`: the goal cannot be reached; nothing old was touched, or all of it can be undone.
 */
export type Verdict =
  | { readonly kind: 'done' }
  | { readonly kind: 'do'; readonly step: Step }
  | ({ readonly kind: 'wait'; readonly shard: number; readonly progress?: number } & Obstacle)
  | ({ readonly kind: 'hold'; readonly on: 'person' | 'time' | 'group' } & Obstacle)
  | ({ readonly kind: 'stuck'; readonly retry?: Step } & Obstacle)
  | ({ readonly kind: 'hopeless' } & Obstacle)

export type { Goal }
