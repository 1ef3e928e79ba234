import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { fetchFile } from '@fairlead/agent'
import { codeOf } from '@fairlead/engine'
import { modulesFolder } from './build-modules.ts'

const path = join(modulesFolder, 'redisearch.so')

/**
 * The path of RediSearch 1.2.2 as Debian packages it, a module that we did not write; null when set-up could
 * not fetch it, and said so. It works on Redis and on Valkey 8.0; from Valkey 8.1 on it loads and hangs the
 * engine at its first use.
 */
export async function testRedisearch(): Promise<string | null> {
  try {
    await access(path)
    return path
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return null
    throw cause
  }
}

/**
 * Fetches it unless it is there. Built for bookworm, it runs in engines of that suite and of later ones.
 * Throws FetchError.
 */
export async function fetchRedisearch(): Promise<void> {
  if ((await testRedisearch()) !== null) return
  await fetchFile({
    suite: 'bookworm',
    packageName: 'redis-redisearch',
    path: 'usr/lib/redis/modules/redisearch.so',
    to: path,
  })
}
