/** Upgrades of all shapes on the tests' world, and the conditions that must hold at their end. */
import { expect } from 'vitest'
import { fc } from '../../../../proof/properties.ts'
import { violations } from '../../src/core/plan/invariants.ts'
import { plainPolicy, revisionOf } from '../../src/core/state/goal.ts'
import {
  type Goal,
  isLinked,
  isLive,
  type ObservedGroup,
  type ObservedShard,
  type Step,
} from '../../src/core/state/topology.ts'
import { type Action, actionOf } from './action.ts'
import { missing } from './clients.ts'
import { type Pick, picksOf } from './engines.ts'
import { goalOf, old } from './group.ts'
import { liveOf, worldOf } from './world.ts'

export interface Shape {
  readonly seed: number
  readonly groups: number
  readonly replicas: number
  readonly aof: boolean
  readonly preserveRoles: boolean
  readonly parallel: number
  readonly canary: boolean
  /** A forced restart: the same build, another nonce. */
  readonly restart: boolean
}

export const shapes: fc.Arbitrary<Shape> = fc.record({
  seed: fc.nat(),
  groups: fc.integer({ min: 1, max: 6 }),
  replicas: fc.integer({ min: 0, max: 3 }),
  aof: fc.boolean(),
  preserveRoles: fc.boolean(),
  parallel: fc.nat({ max: 4 }),
  canary: fc.boolean(),
  restart: fc.boolean(),
})

/** An upgrade that is about to begin. `pick` makes all its random choices. */
export function beginUpgrade(
  { seed, groups, replicas, aof, preserveRoles, parallel, canary, restart }: Shape,
  change: Partial<Goal> = {},
): { readonly action: Action; readonly pick: Pick } {
  const persistence = aof ? 'aof' : 'disabled'
  const pick = picksOf(seed)
  const world = worldOf({ groups, replicas, persistence, runs: old }, pick)
  const homes = world.teams.flatMap(({ recorded }) => recorded ?? [])
  const asked = goalOf({
    groups,
    cluster: groups > 1,
    replicas,
    persistence,
    preserveRoles,
    homes,
    ...(restart && { build: old.build, restartNonce: 1 }),
    ...change,
    policy: { ...plainPolicy, parallel, canary, ...change.policy },
  })
  return { action: actionOf(world, asked), pick }
}

/** Requires all wanted shards on the goal's revision, following one primary, with every write. */
export function expectReached({ world, goal }: Action): void {
  for (const team of world.teams) {
    const primary = team.members.find(({ id }) => id === team.recorded)
    expect(team.members.map(({ revision }) => revision)).toEqual(
      Array(goal.replicas + 1).fill(revisionOf(goal)),
    )
    expect(primary?.engine?.role).toBe('primary')
    expect(primary?.engine).toMatchObject({ paused: false, unheard: false })
    const followers = team.members.filter((member) => member !== primary)
    expect(followers.every(({ engine }) => engine?.role === 'replica' && engine.link === 'up')).toBe(true)
    expect(followers.every(({ engine }) => engine?.primary === primary?.id)).toBe(true)
    expect(team.members.every(({ engine }) => goal.persistence !== 'aof' || engine?.aof === 'on')).toBe(true)
    expect(team.handovers.every(({ closed }) => closed)).toBe(true)
    expectNothingLost(team)
  }
}

/** The serving shard holds every acknowledged write, except those whose every holder was killed. */
export function expectNothingLost(team: Action['world']['teams'][number]): void {
  expect(team.acknowledged.size).toBeGreaterThan(0)
  const serving = liveOf(team).find(({ engine }) => engine?.role === 'primary')
  expect(missing(team, serving?.engine)).toEqual([])
}

export function expectSound(seen: ObservedGroup, step: Step): void {
  expect(violations(seen, step)).toEqual([])
}

export function primaryOf({ shards }: ObservedGroup): ObservedShard | undefined {
  return shards.find((shard) => isLive(shard) && shard.engine.role === 'primary')
}

/** How many follow their primary and hold its stream. */
export function linkedOf(seen: ObservedGroup): number {
  const primary = primaryOf(seen)
  return primary === undefined ? 0 : seen.shards.filter((shard) => isLinked(shard, primary)).length
}

/** The primary on record runs the goal's revision. */
export function hasHandedOver({ shards, recordedPrimary }: ObservedGroup, goal: Goal): boolean {
  return shards.find(({ id }) => id === recordedPrimary)?.revision === revisionOf(goal)
}

/** Whether the step gives up something old permanently. */
export function isFinal(step: Step, { shards }: ObservedGroup, goal: Goal): boolean {
  if (step.kind !== 'retire-shard' && step.kind !== 'restart-shard') return false
  return shards.find(({ id }) => id === step.shard)?.revision !== revisionOf(goal)
}
