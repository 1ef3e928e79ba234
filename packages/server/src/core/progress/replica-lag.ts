import {
  isLinked,
  isLive,
  type ObservedDatabase,
  type ObservedGroup,
  type ObservedShard,
} from '../state/topology.ts'

/** Offsets of primaries, by group. A group whose primary does not answer has none. */
export type PrimaryOffsets = ReadonlyMap<number, number>

/** Returns the present offsets of the recorded primaries. */
export function primaryOffsets({ groups }: ObservedDatabase): PrimaryOffsets {
  return new Map(
    groups.flatMap((group): [number, number][] => {
      const offset = primaryOf(group)?.engine?.offset
      return offset === undefined ? [] : [[group.group, offset]]
    }),
  )
}

/**
 * Finds a group with fewer than `replicas` replicas that are linked and hold what its primary had at
 * `offsets`; undefined: none. More than these, for example surge shards, may lag.
 */
export function laggingGroup(
  { groups }: ObservedDatabase,
  replicas: number,
  offsets: PrimaryOffsets,
): { readonly group: number; readonly following: number } | undefined {
  return groups
    .map((group) => ({ group: group.group, following: followers(group, offsets.get(group.group)).length }))
    .find(({ following }) => following < replicas)
}

function followers(group: ObservedGroup, offset: number | undefined): readonly ObservedShard[] {
  const primary = primaryOf(group)
  if (primary === undefined || !isLive(primary) || offset === undefined) return []
  const { replid } = primary.engine
  return group.shards
    .filter(isLive)
    .filter((shard) => isLinked(shard, primary))
    .filter(({ engine }) => engine.replid === replid && engine.offset >= offset)
}

function primaryOf({ shards, recordedPrimary }: ObservedGroup): ObservedShard | undefined {
  return shards.find(({ id }) => id === recordedPrimary)
}
