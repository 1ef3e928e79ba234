import type { InfoFields } from '@fairlead/engine'

/** Over all databases of an engine, from INFO keyspace: "db0:keys=12,expires=0,avg_ttl=0", a line for each that has any. */
export function countKeys(fields: InfoFields): number {
  let keys = 0
  // INFO has some 200 fields, and is read at each look at each shard: the first letter excludes most of them.
  for (const name in fields)
    if (name.startsWith('db') && /^db\d+$/.test(name))
      keys += Number(/keys=(\d+)/.exec(fields[name] ?? '')?.[1] ?? 0)
  return keys
}
