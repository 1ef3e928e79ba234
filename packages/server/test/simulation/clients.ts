/** Clients of the tests' world: they remember which writes were acknowledged. */
import { type Engine, HOLE, takesWrites, write as writeInto } from './engines.ts'
import { liveOf, type Team, type World } from './world.ts'

/** Every client writes to any shard that accepts writes. Outside of cluster mode there may never be two. */
export function write(world: World): void {
  for (const team of world.teams) writeTo(world, team)
}

export function writeTo(world: World, team: Team): void {
  const takers = liveOf(team).filter(({ engine }) => engine !== null && takesWrites(engine))
  if (takers.length > 1) {
    const names = takers.map(({ id }) => id).join(' and ')
    world.fault ??= `shards ${names} of group ${team.number} take writes at the same time`
    return
  }
  const engine = takers[0]?.engine
  if (engine == null) return
  const id = world.nextWrite++
  writeInto(engine, id)
  team.acknowledged.add(id)
}

/** Writes that a group has lost without need: must be empty. */
export function missing(team: Team, engine: Engine | null | undefined): readonly number[] {
  const held = new Set(engine?.log ?? [])
  return [...team.acknowledged].filter((id) => !held.has(id) && !team.lost.has(id))
}

export const holes = ({ log }: Engine) => log.filter((id) => id === HOLE).length
