import { describe, expect, test } from 'vitest'
import { groupOf } from '../../../test/simulation/group.ts'
import type { ObservedGroup } from '../state/topology.ts'
import { lostWith } from './lost-with.ts'

/** Shard 1 is the primary on record, 2 and 3 its replicas; those `gone` do not answer. */
function groupWithout(
  gone: readonly number[],
  handover: ObservedGroup['handover'],
  recorded: number | null = 1,
): ObservedGroup {
  const seen = groupOf(2)
  const shards = seen.shards.map((shard) =>
    gone.includes(shard.id) ? { ...shard, process: 'exited' as const, engine: null } : shard,
  )
  return { ...seen, shards, handover, recordedPrimary: recorded }
}

const open = { from: 1, to: 3, released: false, ageMs: 100 }
const certified = { ...open, released: true }

describe('when a replica is promoted, acknowledged writes may be lost', () => {
  // invariant: Possible losses of a dead process are reported, in the action and in the audit.
  test('with the primary that died', () => {
    expect(lostWith(groupWithout([1], null), true)).toBe(1)
  })

  test('with the old primary that died in its handover, which may not have sent everything', () => {
    expect(lostWith(groupWithout([1], open), true)).toBe(1)
  })

  test('with the successor that died in a handover, which may have taken over before', () => {
    expect(lostWith(groupWithout([3], open), true)).toBe(3)
  })

  test('with the new primary that died before its followers were linked to it', () => {
    expect(lostWith(groupWithout([3], certified, 3), true)).toBe(3)
  })
})

describe('nothing is lost', () => {
  test('with a successor that died and was certainly never told to take over', () => {
    expect(lostWith(groupWithout([3], open), false)).toBeNull()
    expect(lostWith(groupWithout([1], open), false)).toBe(1)
  })

  test('when only the server died between demotion and promotion', () => {
    expect(lostWith(groupWithout([], open), true)).toBeNull()
    expect(lostWith(groupWithout([2], open), true)).toBeNull()
  })

  test('when no shard ever served', () => {
    expect(lostWith(groupWithout([1], null, null), true)).toBeNull()
  })
})
