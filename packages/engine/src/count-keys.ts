import type { InfoFields } from './read-info.ts'

/**
 * Returns the keys of all databases of an engine, from INFO keyspace: one line
 * "db0:keys=12,expires=0,avg_ttl=0" for each non-empty one.
 */
export function countKeys(fields: InfoFields): number {
  let keys = 0
  // INFO has some 200 fields and is read for each shard in each turn: the first letter excludes most.
  for (const name in fields)
    if (name.startsWith('db') && /^db\d+$/.test(name))
      keys += Number(/keys=(\d+)/.exec(fields[name] ?? '')?.[1] ?? 0)
  return keys
}
