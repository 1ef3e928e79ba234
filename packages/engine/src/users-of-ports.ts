import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { EngineAddress } from './engine-address.ts'

/** Users by `host:port`. */
type Users = Readonly<Record<string, readonly number[]>>

/** A running agent confirms its table every second. */
const HOLDS_FOR_MS = 5_000
/** A shard's line has 40 bytes. */
const MOST_BYTES = 4 * 1024 * 1024

const tables = new Map<string, { readonly trace: string; readonly users: Users }>()

/** Returns the path of a node's table, in the proxy's folder: written by the agent, and only as root. */
export function usersOfPortsFile(proxyFolder: string): string {
  return join(proxyFolder, 'shards', 'users.json')
}

/** Makes this thread accept engines only as the users in the table `file`. Dispose to end that. */
export function knowUsersOfPorts(file: string): Disposable {
  tables.set(file, { trace: '', users: {} })
  return { [Symbol.dispose]: () => void tables.delete(file) }
}

/**
 * Users of the engine at this address, or of its next process. Empty if unknown, because no table has the
 * address, or no agent has confirmed its table for some seconds. Never throws.
 */
export function usersOf({ host, port }: EngineAddress): readonly number[] {
  return [...tables.keys()].flatMap((file) => readTable(file)[`${host}:${port}`] ?? [])
}

/** Read again only after a replacement, because each connection needs it. */
function readTable(file: string): Users {
  try {
    const { ino, ctimeMs, mtimeMs, size } = statSync(file)
    // The clock may have been set back.
    if (Math.abs(Date.now() - mtimeMs) > HOLDS_FOR_MS || size > MOST_BYTES) return {}
    const trace = [ino, ctimeMs, size].join()
    const before = tables.get(file)
    if (before?.trace === trace) return before.users
    const users = JSON.parse(readFileSync(file, 'utf8')) as Users
    tables.set(file, { trace, users })
    return users
  } catch {
    return {} // there is none, or it cannot be understood
  }
}
