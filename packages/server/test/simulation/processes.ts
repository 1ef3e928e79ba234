/** The processes of the model: they start, stall, die, write to their disks and catch up. */
import type { Engine } from './engines.ts'
import * as engines from './engines.ts'
import { liveOf, type Member, membersOf, type Team, type World } from './world.ts'

/** The agent ends the shard's process and forgets the shard. A stalled process does not end. */
export function remove(world: World, member: Member): void {
  if (member.engine !== null && (stallsAt(world, member, false) || member.stall !== null)) return
  Object.assign(member, { engine: null, state: 'absent', disk: engines.noDisk, spec: null, ordered: false })
  for (const other of liveOf(member.group))
    if (other.engine?.primary === member.id) other.engine.link = 'down'
}

/** Kills all processes of a group at the same time. Writes on the primary's disk must return. */
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

/** Returns whether it stalls on an order to take over or end. It obeys when it resumes. */
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
      engines.replicate(engine, source, world.pick, world)
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
    engine.ofFile = engine.known
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
