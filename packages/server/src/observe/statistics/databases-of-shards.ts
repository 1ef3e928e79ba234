/** Where a shard belongs; it never goes to another database. */
export interface ShardPlace {
  readonly shardId: number
  readonly databaseUid: number
  /** Clients of its database use an endpoint. */
  readonly hasEndpoint: boolean
}

/** Knows the database of each shard that has been asked for once. */
export interface ShardPlaces {
  /** Those that are on record; the others are asked for again the next time. */
  find(ids: readonly number[]): Promise<ReadonlyMap<number, ShardPlace>>
  forget(id: number): void
}

/** `read` is asked for shards that are not known yet. */
export function rememberPlaces(
  read: (ids: readonly number[]) => Promise<readonly ShardPlace[]>,
): ShardPlaces {
  const known = new Map<number, ShardPlace>()
  return {
    async find(ids) {
      const unknown = ids.filter((id) => !known.has(id))
      if (unknown.length > 0) for (const place of await read(unknown)) known.set(place.shardId, place)
      return known
    },
    forget: (id) => known.delete(id),
  }
}
