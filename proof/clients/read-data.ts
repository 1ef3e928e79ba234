/** Sends a command to an engine or an endpoint. */
type Call = (command: string, ...args: readonly string[]) => Promise<unknown>

/**
 * Reads everything that a client can read from one database: each key with its type, value and expiry (0:
 * none), and groups of streams. Two copies are equal if these are. Shares no code with backups.
 */
export async function readData(call: Call): Promise<Readonly<Record<string, unknown>>> {
  const data: Record<string, unknown> = {}
  let cursor = '0'
  do {
    const [next, keys] = (await call('SCAN', cursor, 'COUNT', '1000')) as [string, string[]]
    for (const key of keys) data[key] = await readKey(call, key)
    cursor = next
  } while (cursor !== '0')
  return data
}

async function readKey(call: Call, key: string): Promise<unknown> {
  const type = String(await call('TYPE', key))
  const read = readers[type]
  if (read === undefined) throw new Error(`a key of type ${type} is not read`)
  // An expiry is compared by the second: two engines are asked at different moments.
  const ttl = Number(await call('PTTL', key))
  const expires = ttl < 0 ? 0 : Math.round((Date.now() + ttl) / 10_000)
  return { type, expires, value: await read(call, key) }
}

const readers: Readonly<Record<string, (call: Call, key: string) => Promise<unknown>>> = {
  string: (call, key) => call('GET', key),
  list: (call, key) => call('LRANGE', key, '0', '-1'),
  set: async (call, key) => ((await call('SMEMBERS', key)) as string[]).toSorted(),
  zset: (call, key) => call('ZRANGE', key, '0', '-1', 'WITHSCORES'),
  hash: async (call, key) => {
    const flat = (await call('HGETALL', key)) as string[]
    const fields = flat.filter((_, n) => n % 2 === 0)
    return fields
      .map((field, n) => [field, flat[2 * n + 1]])
      .toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1))
  },
  stream: async (call, key) => {
    const groups = (await call('XINFO', 'GROUPS', key)) as unknown[][]
    const pending = groups.map((group) => call('XPENDING', key, String(group[1]), '-', '+', '1000'))
    const withoutIdle = (await Promise.all(pending)).map((one) =>
      (one as unknown[][]).map(([id, consumer, , times]) => [id, consumer, times]),
    )
    return [await call('XRANGE', key, '-', '+'), groups.map((group) => group.slice(0, 8)), withoutIdle]
  },
}
