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
/** Its process is stalled for this many more turns. It carries out the commands of the meantime when it resumes. */
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
  /** How many more stalls may come with an order to take over; null: nothing ever stalls. Outside of cluster mode only. */
  stalls: number | null
  /** How many more connections to engines break, right before or after a command is carried out. */
  breaks: number
  /** The violation of a rule that has happened; null: none. */
  fault: string | null
  /** Processes of this revision fail to start. */
  broken: string | null
  /** Whether a follower of that revision fails to carry out commands from the other one. */
  stumbles: (follower: Engine, source: Engine) => boolean
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
    ...{ pick, time: createVirtualTime(), teams, persistence, always, cluster, memoryFreeBytes: 1e12 },
    ...{
      turn: 0,
      isStill: false,
      nextShard: 1,
      nextWrite: 1,
      stalls: null,
      breaks: 0,
      fault: null,
      broken: null,
      stumbles: () => false,
    },
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

/** The agent gets a spec: it starts a new process if the revision differs, or if nothing else would start one. */
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

/** The agent ends the shard's process and forgets the shard. A stalled process does not end. */
export function remove(world: World, member: Member): void {
  if (member.engine !== null && (stallsAt(world, member, false) || member.stall !== null)) return
  Object.assign(member, { engine: null, state: 'absent', disk: engines.noDisk, spec: null, ordered: false })
  for (const other of liveOf(member.group))
    if (other.engine?.primary === member.id) other.engine.link = 'down'
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

/** All processes of a group die at the same moment. The writes that its primary had on disk must come back. */
export function cutPower(world: World, team: Team): void {
  for (const member of team.members) {
    // The agent died too: the next agent tries to start this process again.
    if (member.state === 'starting' && member.engine === null) member.ordered = true
    stop(world, member)
  }
  const kept = world.always ? team.acknowledged : team.durable
  for (const id of team.acknowledged) if (!kept.has(id)) team.lost.add(id)
}

/** A save point: some process writes a snapshot by itself. */
export function savePoint(world: World, member: Member): void {
  if (world.persistence === 'snapshot' && member.engine !== null)
    member.engine.saving ??= engines.save(member.engine)
}

/** Its process is stalled from now on. */
export function stall(world: World, member: Member, promotes = false): void {
  member.stall ??= { left: 2 + world.pick(20), past: 0, promotes }
}

/** Whether it stalls right when it is told to take over, or to end. It carries out that order when it resumes. */
export function stallsAt(world: World, member: Member, promotes = true): boolean {
  if (world.cluster || !world.stalls || world.pick(3) > 0) return false
  world.stalls -= 1
  stall(world, member, promotes)
  return true
}

/** Its process dies at once, and loses all that it had not written to disk. */
export function kill(world: World, member: Member): void {
  const { engine, group } = member
  stop(world, member)
  if (engine === null) return
  if (engine.role === 'primary' || !liveOf(group).some((other) => other.engine?.role === 'primary'))
    mourn(group, engine, world.stalls !== null)
}

function stop(world: World, member: Member): void {
  const { engine, group } = member
  member.stall = null
  if (member.state === 'starting' && engine === null && !member.ordered) {
    member.state = 'failed'
    return
  }
  if (engine === null) return
  const { log, aof } = engine
  const { snapshot } = member.disk
  const unwritten = world.always ? 0 : world.pick(2)
  if (aof === 'on') member.disk = { snapshot, aof: log.slice(0, log.length - unwritten), aofWhole: true }
  end(member, false)
  const unaware = liveOf(group).find((other) => other.engine?.role === 'primary')
  if (member.id === group.owner && unaware !== undefined) group.owner = unaware.id
  if (member.ordered && member.spec?.onCrash === 'wait') member.ordered = false
  member.state = member.ordered ? 'starting' : 'exited'
}

/**
 * Writes that the best follower had not received are lost, which no plan could prevent. Where some stall, the
 * best follower may be one that does not answer: then what was on record counts.
 */
function mourn(team: Team, { replid, replid2 }: Engine, isAny: boolean): void {
  // Only the history on record counts, and only replicas that have been in it: so the roles are settled.
  const names = team.history === null ? [replid, replid2] : [team.history.replid]
  const successors = liveOf(team).flatMap(({ engine }) =>
    engine !== null &&
    engine.role === 'replica' &&
    !engine.syncing &&
    (names.includes(engine.replid) || names.includes(engine.replid2)) &&
    engine.offset >= (team.history?.offset ?? 0)
      ? [new Set(engine.log)]
      : [],
  )
  const lacks = (held: ReadonlySet<number>) => [...team.acknowledged].filter((id) => !held.has(id))
  const lacking = successors.map(lacks).toSorted((a, b) => a.length - b.length)
  for (const id of lacking.at(isAny ? -1 : 0) ?? team.acknowledged) team.lost.add(id)
}

function end(member: Member, cleanly: boolean): void {
  const { engine } = member
  if (engine === null) return
  const { role, primary, known, log, aof } = engine
  if (cleanly)
    member.disk =
      aof === 'on'
        ? { snapshot: engines.save(engine), aof: log, aofWhole: true }
        : { ...member.disk, snapshot: engines.save(engine) }
  Object.assign(member, { engine: null, endedCleanly: cleanly, place: { role, primary, known } })
  for (const other of liveOf(member.group))
    if (other.engine?.primary === member.id) other.engine.link = 'down'
}

/** A part of everything under way arrives: processes stop and start, streams flow, gossip spreads. */
export function arrive(world: World): void {
  world.turn += 1
  for (const member of membersOf(world)) standStill(member)
  for (const team of world.teams) endPauses(world, team)
  for (const member of membersOf(world))
    if (member.stall === null && world.pick(2) === 0) moveOn(world, member)
  for (const team of world.teams) {
    for (const { engine, stall } of team.members) {
      if (engine === null || stall !== null || world.pick(3) === 0) continue
      const source = team.members.find(({ id }) => id === engine.primary)?.engine ?? null
      engines.replicate(engine, source, world.pick, () => source !== null && world.stumbles(engine, source))
    }
  }
}

/** Ends the pauses of a group's engines when their time is over. */
export function endPauses({ time }: World, { members }: Team): void {
  for (const { engine } of members)
    if (engine?.paused && time.elapsed() >= engine.pausedUntil) engine.paused = false
}

function standStill(member: Member): void {
  const { stall, engine } = member
  if (stall === null) return
  Object.assign(stall, { left: stall.left - 1, past: stall.past + 1 })
  if (stall.left > 0) return
  member.stall = null
  if (stall.promotes && engine !== null) engines.promote(engine)
}

function moveOn(world: World, member: Member): void {
  const { engine, spec } = member
  if (member.state === 'stopping') {
    end(member, true)
    member.state = 'starting'
  } else if (member.state === 'starting' && member.ordered && spec !== null) {
    Object.assign(member, { ordered: false, revision: spec.revision })
  } else if (member.state === 'starting') {
    if (member.revision === world.broken) member.state = 'failed'
    else boot(world, member)
  } else if (member.state === 'exited' && spec?.onCrash === 'restart') {
    Object.assign(member, { ordered: true, state: 'starting' })
  } else if (engine !== null) writeFiles(member, engine)
}

/** The file that an engine writes in the background is complete. */
function writeFiles(member: Member, engine: Engine): void {
  if (engine.aof === 'rewriting') engine.aof = 'on'
  if (engine.saving === null) return
  member.disk = { ...member.disk, snapshot: engine.saving }
  const { group } = member
  if (engine.role === 'primary' && group.recorded === member.id)
    group.durable = new Set([...group.durable, ...engine.saving.log])
  engine.saving = null
}

function boot(world: World, member: Member): void {
  const { place, spec, disk } = member
  const engine = engines.emptyEngine(member.revision ?? '')
  const follows = spec?.follows ?? null
  if (!world.cluster && follows !== null) Object.assign(engine, { role: 'replica', primary: follows })
  if (world.cluster) {
    Object.assign(engine, place ?? { role: 'blank' })
    engine.known = new Set([...engine.known, member.id])
    // A process that served before takes no writes until the others have told it the new owner of its slots.
    engine.unheard = engine.role === 'primary'
    const { group } = member
    const owner = group.members.find(({ id }) => id === group.owner)
    if (engine.unheard && member.epoch > (owner?.epoch ?? 0)) group.owner = member.id
  }
  engines.load(engine, disk, follows !== null, world.persistence === 'aof')
  // From here on the file lacks the writes of this process.
  if (engine.aof !== 'on') member.disk = { ...disk, aofWhole: false }
  Object.assign(member, { engine, state: 'running' })
}
