/** A node, a store and clients around engines that hold data: the world in which a plan is carried out. */
import { type History, type SlotRange, splitSlots } from '../../src/core/state/database.ts'
import { type Goal, type Runs, revisionOf } from '../../src/core/state/goal.ts'
import type { Handover } from '../../src/core/state/handover.ts'
import type { ObservedShard } from '../../src/core/state/topology.ts'
import type { Disk, Engine, Pick } from './engines.ts'
import * as engines from './engines.ts'
import { createVirtualTime, type VirtualTime } from './virtual-time.ts'

/** A shard: its record in the store, what its agent holds, and its process. */
export interface Member {
  readonly id: number
  readonly group: Team
  wanted: Runs
  follows: number | null
  leaving: boolean
  /** The spec that the agent was given. */
  spec: Spec | null
  state: ObservedShard['process']
  /** A new process was ordered and has not started yet. */
  ordered: boolean
  /** Of the last process. */
  revision: string | null
  endedCleanly: boolean
  disk: Disk
  engine: Engine | null
  /** In cluster mode, the shards that its last process knew, and the epoch of its last claim on slots. */
  place: Place | null
  epoch: number
  stall: Stall | null
}
/** The process is stalled for `left` more turns, and carries out waiting commands when it resumes. */
interface Stall {
  left: number
  past: number
  readonly promotes: boolean
}
type Place = { readonly [Key in 'role' | 'primary' | 'known']: Engine[Key] }
interface Spec {
  readonly revision: string
  readonly follows: number | null
  readonly onCrash: 'wait' | 'restart'
}

/** A group and the writes that its clients know of. */
export interface Team {
  readonly number: number
  readonly slots: SlotRange | null
  members: Member[]
  recorded: number | null
  history: History | null
  /** On record, the oldest first. */
  handovers: readonly Handover[]
  /**
   * In cluster mode, the shard that took the slots over last, as far as the others have heard; and the
   * highest epoch of a claim.
   */
  owner: number | null
  epoch: number
  readonly acknowledged: Set<number>
  /** Writes that were on the disk of a serving shard: no plan may lose them, whatever dies. */
  durable: ReadonlySet<number>
  /** Writes that no plan could have saved: their holders were killed. */
  readonly lost: Set<number>
}

export interface World {
  readonly pick: Pick
  readonly time: VirtualTime
  readonly teams: readonly Team[]
  readonly persistence: Goal['persistence']
  /** Each write is in the append-only file before it is acknowledged. */
  readonly always: boolean
  readonly cluster: boolean
  memoryFreeBytes: number
  turn: number
  /** Nothing happens while an engine answers: two looks at the same world are compared. */
  isStill: boolean
  nextShard: number
  nextWrite: number
  /** Remaining stalls on orders to take over; null: none. Only outside of cluster mode. */
  stalls: number | null
  /** How many more connections to engines break, right before or after a command is carried out. */
  breaks: number
  /** The violation of a rule that has happened; null: none. */
  fault: string | null
  /** Processes of this revision fail to start. */
  broken: string | null
  /** Whether a follower of that revision fails to carry out commands from the other one. */
  stumbles: engines.Dialects['stumbles']
  reads: engines.Dialects['reads']
  /** Processes of this revision tell the cluster no id of their shard, as redis 7.0; null: none. */
  withoutShardIds: string | null
}

export interface Shape {
  readonly groups: number
  readonly replicas: number
  readonly persistence: Goal['persistence']
  readonly always?: boolean
  readonly runs: Runs
}

/** A database that runs well, with some writes in it. In cluster mode when it has more than one group. */
export function worldOf(shape: Shape, pick: Pick): World {
  const { groups, replicas, persistence, always = false, runs } = shape
  const cluster = groups > 1
  const teams = splitSlots(groups).map((slots, number) => teamOf(number, cluster ? slots : null))
  const world: World = {
    pick,
    time: createVirtualTime(),
    teams,
    persistence,
    always,
    cluster,
    memoryFreeBytes: 1e12,
    turn: 0,
    isStill: false,
    nextShard: 1,
    nextWrite: 1,
    stalls: null,
    breaks: 0,
    fault: null,
    broken: null,
    stumbles: () => false,
    reads: () => true,
    withoutShardIds: null,
  }
  for (const team of teams) {
    const first = world.nextShard
    for (let n = 0; n <= replicas; n++) {
      const member = enlist(world, team, runs, n === 0 ? null : first)
      const onCrash = n === 0 && replicas > 0 ? 'wait' : 'restart'
      put(member, { revision: revisionOf(runs), follows: member.follows, onCrash })
      Object.assign(member, {
        state: 'running',
        ordered: false,
        engine: bornWell(member, first, persistence),
      })
    }
    Object.assign(team, { recorded: first, owner: first, epoch: 1 })
    for (const member of team.members) if (member.id === first) member.epoch = 1
  }
  const everybody = new Set(membersOf(world).map(({ id }) => id))
  for (const { engine } of membersOf(world)) if (engine !== null) engine.known = everybody
  return world
}

function teamOf(number: number, slots: SlotRange | null): Team {
  const records = { members: [], recorded: null, history: null, handovers: [] }
  const sets = { acknowledged: new Set<number>(), durable: new Set<number>(), lost: new Set<number>() }
  return { number, slots, ...records, owner: null, epoch: 0, ...sets }
}

function bornWell(member: Member, first: number, persistence: Goal['persistence']): Engine {
  const role =
    member.id === first
      ? ({ role: 'primary' } as const)
      : ({ role: 'replica', primary: first, link: 'up' } as const)
  const aof = persistence === 'aof' ? 'on' : 'off'
  return {
    ...engines.emptyEngine(member.revision ?? ''),
    ...role,
    aof,
    streamed: true,
    replid: `history-${first}`,
  }
}

export const membersOf = ({ teams }: World) => teams.flatMap(({ members }) => members)

export function memberOf({ teams }: World, id: number): Member | undefined {
  for (const { members } of teams) for (const member of members) if (member.id === id) return member
  return undefined
}
export const liveOf = ({ members }: Team) => members.filter(({ engine }) => engine !== null)

export function enlist(world: World, group: Team, wanted: Runs, follows: number | null): Member {
  const process = {
    spec: null,
    state: 'absent',
    ordered: false,
    revision: null,
    endedCleanly: false,
  } as const
  const rest = { leaving: false, disk: engines.noDisk, engine: null, place: null, epoch: 0, stall: null }
  const member: Member = { id: world.nextShard++, group, wanted, follows, ...process, ...rest }
  group.members.push(member)
  return member
}

/** The agent gets a spec: it starts a process if the revision differs or nothing else would. */
export function put(member: Member, spec: Spec): void {
  const before = member.spec
  member.spec = spec
  const asleep = member.state === 'exited' || member.state === 'failed'
  const same =
    before !== null &&
    before.revision === spec.revision &&
    before.follows === spec.follows &&
    before.onCrash === spec.onCrash
  const stuck = member.state === 'failed' || (member.state === 'exited' && spec.onCrash === 'wait')
  const anew = before === null || asleep || before.revision !== spec.revision
  if (same ? !stuck : !anew) return
  member.revision ??= spec.revision
  member.ordered = true
  member.state = member.engine === null ? 'starting' : 'stopping'
}

/** The handover of its group that moved the role last, or is open. */
export function lastHandover({ handovers }: Team): Handover | undefined {
  return handovers.findLast(({ closed, certificate }) => !closed || certificate !== null)
}

/** The shard has the slots, and the others learn that if it lives long enough. */
export function claimSlots(team: Team, member: Member): void {
  team.epoch += 1
  Object.assign(member, { epoch: team.epoch })
  team.owner = member.id
}
