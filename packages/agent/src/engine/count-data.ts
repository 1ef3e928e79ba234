import type { LoadedData } from '@fairlead/api'
import { type InfoFields, numberOf, type Reply, readInfo } from '@fairlead/engine'

/** Sends one command to an engine, and returns its reply. */
type Call = (command: string, ...args: readonly string[]) => Promise<Reply>

/** Counts the data of an engine that has just loaded a snapshot. */
export async function countData(call: Call): Promise<LoadedData> {
  const info = readInfo(String(await call('INFO')))
  const loaded = info['rdb_last_load_keys_loaded']
  return {
    keysInFile: loaded === undefined ? null : Number(loaded) + numberOf(info, 'rdb_last_load_keys_expired'),
    databases: databasesIn(info),
    functions: await countLibraries(call),
    memoryBytes: numberOf(info, 'used_memory'),
  }
}

/** Returns how the data differ from the wanted ones; undefined: keys can only have expired. */
export function describeMissing(found: LoadedData, wanted: LoadedData): string | undefined {
  if (found.keysInFile !== null && wanted.keysInFile !== null) {
    const lacks = wanted.keysInFile - found.keysInFile
    // A key of which every field has expired is not counted.
    if (lacks < 0 || lacks > wanted.databases.reduce((sum, { volatile = 0 }) => sum + volatile, 0))
      return `it has read ${found.keysInFile} keys of ${wanted.keysInFile}`
  }
  if (found.functions !== wanted.functions)
    return `it has ${found.functions} libraries of functions, not ${wanted.functions}`
  const numbers = [...found.databases, ...wanted.databases].map(({ number }) => number)
  for (const number of new Set(numbers)) {
    const [has, is] = [keysOf(found, number), keysOf(wanted, number)]
    if (has.keys > is.keys || has.keys < is.keys - is.expires - (is.volatile ?? 0))
      return `it has ${has.keys} keys in database ${number}, not ${is.keys}`
  }
  return undefined
}

function keysOf({ databases }: LoadedData, wanted: number): LoadedData['databases'][number] {
  return databases.find(({ number }) => number === wanted) ?? { number: wanted, keys: 0, expires: 0 }
}

/**
 * "db0:keys=12,expires=0,avg_ttl=0". Redis 7.4 and later has the number of keys with fields that expire as
 * `subexpiry`, Valkey 9 as `keys_with_volatile_items`.
 */
function databasesIn(info: InfoFields): LoadedData['databases'] {
  return Object.entries(info).flatMap(([name, value]) => {
    const [, number] = /^db(\d+)$/.exec(name) ?? []
    const [, keys, expires] = /^keys=(\d+),expires=(\d+)/.exec(value) ?? []
    if (number === undefined || keys === undefined) return []
    const [, volatile] = /,(?:subexpiry|keys_with_volatile_items)=([1-9]\d*)/.exec(value) ?? []
    const counts = { number: Number(number), keys: Number(keys), expires: Number(expires) }
    return [{ ...counts, ...(volatile !== undefined && { volatile: Number(volatile) }) }]
  })
}

/** Redis before 7 has no functions, and no such command. */
async function countLibraries(call: Call): Promise<number> {
  const known = await call('COMMAND', 'INFO', 'FUNCTION')
  if (!Array.isArray(known) || known[0] === null) return 0
  const libraries = await call('FUNCTION', 'LIST')
  return Array.isArray(libraries) ? libraries.length : 0
}
