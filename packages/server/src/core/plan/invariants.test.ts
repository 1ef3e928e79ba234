import { expect, test } from 'vitest'
import { groupOf } from '../../../test/simulation/group.ts'
import { isLive, type ObservedGroup, type ObservedShard, type Step } from '../state/topology.ts'
import { violations } from './invariants.ts'

/** Shard 1 is the primary, 2 and 3 follow it. `but` has the differences of some shards. */
function seenWith(
  but: Readonly<Record<number, (shard: ObservedShard) => ObservedShard>> = {},
): ObservedGroup {
  const seen = groupOf(2)
  return { ...seen, shards: seen.shards.map((shard) => but[shard.id]?.(shard) ?? shard) }
}

const dead = (shard: ObservedShard): ObservedShard => ({ ...shard, process: 'exited', engine: null })
const silent = (shard: ObservedShard): ObservedShard => ({ ...shard, engine: null })
const unlinked = (shard: ObservedShard): ObservedShard =>
  isLive(shard) ? { ...shard, engine: { ...shard.engine, link: 'down' } } : shard
const runs = { build: { flavour: 'redis', version: '7.0.15' }, restartNonce: 0, modules: [] }
const why = ''

const cases: readonly (readonly [string, ObservedGroup, Step, boolean])[] = [
  ['a replica is promoted beside a primary', seenWith(), { kind: 'promote', shard: 2, why }, false],
  [
    'a replica is promoted when the primary is gone',
    seenWith({ 1: dead }),
    { kind: 'promote', shard: 2, why },
    true,
  ],
  [
    'a replica is promoted beside a silent primary',
    seenWith({ 1: silent }),
    { kind: 'promote', shard: 2, why },
    false,
  ],
  [
    'a silent replica is promoted',
    seenWith({ 1: dead, 2: silent }),
    { kind: 'promote', shard: 2, why },
    false,
  ],
  ['a primary restarts', seenWith(), { kind: 'restart-shard', shard: 1, runs, follow: 2, why }, false],
  ['a replica restarts', seenWith(), { kind: 'restart-shard', shard: 2, runs, follow: 1, why }, true],
  [
    'a primary restarts in place beside others',
    seenWith(),
    { kind: 'restart-primary', shard: 1, runs, why },
    false,
  ],
  ['a primary is retired', seenWith(), { kind: 'retire-shard', shard: 1, why }, false],
  [
    'a primary that is gone for a moment is retired',
    seenWith({ 1: dead }),
    { kind: 'retire-shard', shard: 1, why },
    false,
  ],
  ['a replica is retired', seenWith(), { kind: 'retire-shard', shard: 2, why }, true],
  ['the role moves to a linked replica', seenWith(), { kind: 'hand-over', from: 1, to: 2, why }, true],
  [
    'the role moves to a replica without a link',
    seenWith({ 2: unlinked }),
    { kind: 'hand-over', from: 1, to: 2, why },
    false,
  ],
  [
    'the role moves while a sibling is silent',
    seenWith({ 3: silent }),
    { kind: 'hand-over', from: 1, to: 2, why },
    false,
  ],
  ['the role moves from a replica', seenWith(), { kind: 'hand-over', from: 2, to: 3, why }, false],
  [
    'a process that only is silent is ended',
    seenWith({ 2: silent }),
    { kind: 'end-process', shard: 2, startedAt: 1, why },
    false,
  ],
  [
    'a second primary is started',
    seenWith({ 2: dead }),
    { kind: 'start-shard', shard: 2, follow: null, why },
    false,
  ],
  ['a shard follows itself', seenWith(), { kind: 'follow', shard: 2, primary: 2, why }, false],
  ['a further shard follows no other', seenWith(), { kind: 'add-shard', runs, follow: null, why }, false],
]

test.each(cases)('a plan in which %s is refused, and a sound one is not', (_, seen, step, isSound) => {
  expect(violations(seen, step).length === 0).toBe(isSound)
})
