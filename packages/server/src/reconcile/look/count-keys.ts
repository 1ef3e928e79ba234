import type { InfoFields } from '@fairlead/engine'

/** Over all databases of an engine, from INFO keyspace: "db0:keys=12,expires=0,avg_ttl=0", a line for each that has any. */
export function countKeys(fields: InfoFields): number {
  let keys = 0
  // Of some 200 fields, at each look at each shard: most are out at the first letter.
  for (const name in fields)
    if (name.startsWith('db') && /^db\d+$/.test(name))
      keys += Number(/keys=(\d+)/.exec(fields[name] ?? '')?.[1] ?? 0)
  return keys
}
