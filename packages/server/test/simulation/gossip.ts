/** Messages between engines in cluster mode, for the planner's tests. They arrive late and in any order. */
import { type Engine, follow } from './engines.ts'
import { liveOf, type Member, memberOf, membersOf, type Team, type World } from './world.ts'

export function gossip(world: World): void {
  if (!world.cluster) return
  const everybody = membersOf(world).filter(({ engine }) => engine !== null)
  for (const member of everybody) {
    if (member.engine !== null && world.pick(2) === 0) listen(member, member.engine, everybody)
  }
  for (const { engine } of everybody) if (engine !== null) giveUpGreetings(world, engine)
  for (const team of world.teams) hearOfOwner(world, team)
}

function listen(member: Member, engine: Engine, everybody: readonly Member[]): void {
  const known = new Set(engine.known)
  for (const other of everybody) {
    if (other.engine === null) continue
    if (engine.greeted.has(other.id)) known.add(other.id)
    if (!known.has(other.id)) continue
    // A node in a message of gossip is introduced: each of the two then knows the other.
    if (!other.engine.banned.has(member.id)) other.engine.known = new Set([...other.engine.known, member.id])
    for (const id of other.engine.known) if (!engine.banned.has(id)) known.add(id)
  }
  engine.known = known
  engine.greeted = new Set([...engine.greeted].filter((id) => !known.has(id)))
}

/** A node that left is greeted until the time for handshakes is over (cluster-node-timeout). */
function giveUpGreetings(world: World, engine: Engine): void {
  engine.greeted = new Set([...engine.greeted].filter((id) => memberOf(world, id) !== undefined))
}

/** A node that lost its slots to another one steps down and follows it, and so do its followers. */
export function hearOfOwner(world: World, team: Team): void {
  const owner = team.members.find(({ id }) => id === team.owner)
  if (owner === undefined) claimUnowned(team)
  if (owner?.engine != null && owner.engine.role !== 'primary') return
  for (const { id, engine } of liveOf(team)) {
    if (engine === null || world.pick(3) === 0) continue
    if (id === team.owner) engine.unheard = false
    else if (owner !== undefined && engine.known.has(owner.id) && engine.role !== 'blank')
      obey(team, engine, owner.id)
  }
}

/** Slots of a forgotten node are free: others accept the claim of a node that still has them. */
function claimUnowned(team: Team): void {
  const claims = liveOf(team).filter(({ engine }) => engine?.role === 'primary')
  const highest = Math.max(...claims.map(({ epoch }) => epoch))
  team.owner = claims.find(({ epoch }) => epoch === highest)?.id ?? team.owner
}

function obey(team: Team, engine: Engine, owner: number): void {
  const followers = liveOf(team).flatMap((one) =>
    one.engine !== null && one.engine !== engine && one.engine.primary !== owner ? [one.engine] : [],
  )
  engine.unheard = false
  follow(engine, owner, followers)
}
