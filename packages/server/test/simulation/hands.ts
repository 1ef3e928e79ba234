/** Carries steps out in the tests' world, effect by effect as reconcile/ does, and may be killed between any two. */
import { revisionOf, runsOf } from '../../src/core/state/goal.ts'
import type { Step } from '../../src/core/state/topology.ts'
import { type Engine, follow, noDisk, pause, promote, save, write } from './engines.ts'
import { obey } from './gossip.ts'
import {
  claimSlots,
  enlist,
  liveOf,
  type Member,
  membersOf,
  put,
  stallsAt,
  type Team,
  type World,
} from './world.ts'

/** The server was killed, or an engine it spoke to did not answer: the rest of the step does not happen. */
class Interrupted extends Error {}

interface ModelContext {
  readonly world: World
  readonly team: Team
  /** Before each effect. */
  readonly effect: () => void
  /** Failed commands of each shard, by id, as the plan saw them. */
  readonly errorsSeen: ReadonlyMap<number, number>
}

/** `effects`: after so many the server dies. Returns whether it lives. */
export function carryOut(
  world: World,
  team: Team,
  step: Step,
  effects: number,
  errorsSeen: ReadonlyMap<number, number> = new Map(),
): boolean {
  let left = effects
  const effect = () => {
    left -= 1
    if (left < 0) throw new Interrupted('the server was killed')
  }
  try {
    doStep(step, { world, team, effect, errorsSeen })
  } catch (cause) {
    if (!(cause instanceof Interrupted)) throw cause
  }
  return left >= 0
}

function memberOf(team: Team, id: number): Member {
  const member = team.members.find((one) => one.id === id)
  if (member === undefined) throw new Error(`shard ${id} is not on record in group ${team.number}`)
  return member
}

function engineOf(team: Team, id: number): Engine {
  const { engine, stall } = memberOf(team, id)
  if (engine === null || stall !== null) throw new Interrupted(`shard ${id} does not answer`)
  return engine
}

function doStep(step: Step, context: ModelContext): void {
  const { world, team, effect } = context
  switch (step.kind) {
    case 'add-shard':
      addShard(step, context)
      return
    case 'start-shard':
      effect()
      memberOf(team, step.shard).follows = step.follow
      effect()
      put(team, memberOf(team, step.shard))
      return
    case 'restart-shard':
      engineOf(team, step.follow)
      restart(step, step.follow, context)
      return
    case 'restart-primary':
      restart(step, null, context)
      return
    case 'retire-shard':
      retire(memberOf(team, step.shard), context)
      return
    case 'follow':
      followIn(context, step.shard, step.primary)
      return
    case 'promote':
    case 'take-back':
      promoteIn(context, step.shard)
      return
    case 'fence':
      for (const id of step.shards) pause(engineOf(team, id))
      return
    case 'enable-aof':
      effect()
      engineOf(team, step.shard).aof = 'rewriting'
      return
    case 'save-snapshot': {
      effect()
      const engine = engineOf(team, step.shard)
      engine.saving ??= save(engine)
      return
    }
    case 'hand-over':
      handOver(step, context)
      return
    case 'release-handover':
      effect()
      for (const { engine } of liveOf(team)) if (engine !== null) engine.paused = false
      effect()
      team.recorded = step.primary
      effect()
      if (team.handover !== null) team.handover = { ...team.handover, released: true }
      return
    case 'seal-handover':
      seal(context)
      return
    case 'assign-slots':
      effect()
      Object.assign(engineOf(team, step.shard), { role: 'primary', paused: false })
      claimSlots(team, memberOf(team, step.shard))
      return
    case 'record-primary':
      effect()
      team.recorded = step.shard
      return
    case 'record-wish':
      effect()
      put(team, Object.assign(memberOf(team, step.shard), { follows: step.follow }))
      return
    case 'meet': {
      for (const { by, to } of step.greetings) {
        const greeter = membersOf(world).find(({ id }) => id === by)?.engine
        effect()
        if (greeter != null) greeter.greeted = new Set([...greeter.greeted, to])
      }
      return
    }
    case 'forget-node':
      forget(step, context)
      return
    case 'end-process': // nothing hangs here: see settle-roles.test.ts
  }
}

function addShard(
  { runs, follow }: Extract<Step, { kind: 'add-shard' }>,
  { world, team, effect }: ModelContext,
): void {
  const primary = team.members.length === 1 ? team.members[0] : undefined
  effect()
  if (primary !== undefined) put(team, primary, 1)
  effect()
  const member = enlist(world, team, runsOf(runs), follow)
  effect()
  put(team, member)
}

function restart(
  { shard, runs }: Extract<Step, { kind: 'restart-shard' | 'restart-primary' }>,
  follows: number | null,
  { team, effect }: ModelContext,
): void {
  effect()
  const member = Object.assign(memberOf(team, shard), { wanted: runsOf(runs), follows })
  effect()
  put(team, member)
}

function retire(member: Member, { team, effect, world }: ModelContext): void {
  effect()
  member.leaving = true
  effect()
  if (world.cluster && member.engine?.role === 'replica') {
    const followsNot = membersOf(world).filter(
      ({ id, engine }) => id !== member.id && engine?.primary !== member.id,
    )
    const shards = followsNot.map(({ id }) => id)
    forget({ kind: 'forget-node', node: `node-${member.id}`, shards, why: '' }, { world, effect })
  }
  // A process that stands still does not end, either.
  if (stallsAt(world, member, false) || member.stall !== null) return
  Object.assign(member, { engine: null, state: 'absent', disk: noDisk })
  if (world.pick(3) === 0) return
  effect()
  team.members = team.members.filter((one) => one !== member)
  const [last, ...others] = team.members
  if (last === undefined || others.length > 0) return
  effect()
  put(team, last, 0)
}

function followersOf(team: Team, id: number): readonly Engine[] {
  return liveOf(team).flatMap(({ engine }) => (engine !== null && engine.primary === id ? [engine] : []))
}

function followIn({ team, effect, world }: ModelContext, id: number, primary: number): void {
  const engine = engineOf(team, id)
  engineOf(team, primary)
  effect()
  if (world.cluster && !engine.known.has(primary)) throw new Error('it does not know whom it shall follow')
  if (world.cluster && engine.role === 'primary') throw new Error('who serves slots cannot be told to follow')
  follow(engine, primary, followersOf(team, id))
}

/** carry-out.ts: that it may serve is on record before it is told so. */
function promoteIn({ team, effect, world }: ModelContext, id: number): void {
  const engine = engineOf(team, id)
  const member = memberOf(team, id)
  const follows = team.members.length > 1 ? null : member.follows
  effect()
  const { follows: before } = member
  // The agent is told first.
  if (member.revision === revisionOf(member.wanted)) put(team, Object.assign(member, { follows }), 1, 'wait')
  member.follows = before
  effect()
  member.follows = follows
  effect()
  if (stallsAt(world, member)) throw new Interrupted(`shard ${id} does not answer`)
  promote(engine)
  claimSlots(team, member)
}

function forget(
  { node, shards }: Extract<Step, { kind: 'forget-node' }>,
  { world, effect }: Pick<ModelContext, 'world' | 'effect'>,
): void {
  const gone = Number(node.replace('node-', ''))
  for (const id of shards) {
    const engine = membersOf(world).find((one) => one.id === id)?.engine
    effect()
    if (engine == null) continue
    if (engine.primary === gone) throw new Error(`shard ${id} cannot forget whom it follows`)
    engine.known = new Set([...engine.known].filter((one) => one !== gone))
    engine.banned = new Set([...engine.banned, gone])
  }
}

/** hand-over.ts, move-role.ts and move-role-in-cluster.ts. */
function handOver({ from, to }: Extract<Step, { kind: 'hand-over' }>, context: ModelContext): void {
  const { world, team, effect, errorsSeen } = context
  const [primary, heir] = [engineOf(team, from), engineOf(team, to)]
  const others = team.members.filter(({ id }) => id !== from && id !== to)
  const followers = [heir, ...others.map(({ id }) => engineOf(team, id))]
  effect()
  put(team, memberOf(team, to), 1, 'wait')
  if (!isOpen(world, from, to, followers)) return
  effect()
  team.standbyBefore = team.standby
  team.standby = { shard: from, runId: primary.runId, errorReplies: primary.errorReplies }
  team.handover = { from, to, released: false, since: world.turn, certified: false }
  effect()
  pause(primary)
  const differs = followers.some(({ replid }) => replid !== primary.replid)
  if (differs || world.pick(8) === 0) {
    abandon(primary, context)
    return
  }
  for (const follower of followers) catchUp(follower, primary, world)
  if (heir.errorReplies > (errorsSeen.get(to) ?? heir.errorReplies)) {
    abandon(primary, context)
    return
  }
  effect()
  if (!world.cluster) {
    follow(primary, to, followersOf(team, from))
    effect()
    if (stallsAt(world, memberOf(team, to))) throw new Interrupted(`shard ${to} does not answer`)
  }
  promote(heir)
  claimSlots(team, memberOf(team, to))
  effect()
  if (world.persistence === 'aof') team.recorded = to
  if (world.cluster) stepDown(team, primary, to, world)
  effect()
  team.recorded = to
  team.handover = { ...team.handover, released: true, certified: true }
  effect()
  primary.paused = false
  if (world.cluster) return
  for (const { id } of others) {
    effect()
    follow(engineOf(team, id), to, followersOf(team, id))
  }
}

function isOpen(world: World, from: number, to: number, followers: readonly Engine[]): boolean {
  if (followers.some(({ link, primary }) => link !== 'up' || primary !== from)) return false
  if (!world.cluster) return true
  const primaries = world.teams.flatMap((team) => team.members.filter(({ id }) => id === team.recorded))
  const aware = [...primaries.map(({ engine }) => engine), ...followers]
  return aware.every((engine) => engine?.known.has(to) === true)
}

function abandon(primary: Engine, { team, effect }: ModelContext): void {
  effect()
  primary.paused = false
  effect()
  close(team, false)
}

function close(team: Team, moved: boolean): void {
  if (!moved) team.standby = team.standbyBefore
  team.handover = null
}

function catchUp(follower: Engine, primary: Engine, world: World): void {
  const behind = primary.offset - follower.offset
  for (const id of primary.log.slice(primary.log.length - behind)) {
    const failed = world.stumbles(follower, primary)
    write(follower, failed ? -1 : id)
    if (failed) follower.errorReplies += 1
  }
}

/** It hears of it from the others, and the one that waits for that does not wait for ever. */
function stepDown(team: Team, primary: Engine, to: number, world: World): void {
  if (world.pick(4) === 0) throw new Interrupted('the old primary has not stepped down')
  obey(team, primary, to)
}

function seal({ team, effect }: ModelContext): void {
  const { handover } = team
  if (handover === null) return
  const [from, to] = [handover.from, handover.to].map(
    (id) => team.members.find((one) => one.id === id)?.engine,
  )
  effect()
  close(team, handover.certified || (from != null && to?.role === 'primary'))
}
