import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { EngineAddress } from './engine-address.ts'

/** Users by `host:port`. */
type Users = Readonly<Record<string, readonly number[]>>

/** An agent that is there says every second that its table holds. */
const HOLDS_FOR_MS = 5_000
/** A line for each shard of a node has 40 bytes. */
const MOST_BYTES = 4 * 1024 * 1024

const tables = new Map<string, { readonly trace: string; readonly users: Users }>()

/** The table of a node, within the folder of its proxy: the agent writes it where root has started it, and only root may. */
export function usersOfPortsFile(proxyFolder: string): string {
  return join(proxyFolder, 'shards', 'users.json')
}

/** From now on, this thread takes an engine for the one that it means only if it is of the user that the table `file` names. Disposing of it ends that. */
export function knowUsersOfPorts(file: string): Disposable {
  tables.set(file, { trace: '', users: {} })
  return { [Symbol.dispose]: () => void tables.delete(file) }
}

/**
 * The users as whom the engine at this address runs, or its next process will; none: it is not known, because no table has the address, or nobody
 * has said for some seconds that its table holds. Never throws.
 */
export function usersOf({ host, port }: EngineAddress): readonly number[] {
  return [...tables.keys()].flatMap((file) => readTable(file)[`${host}:${port}`] ?? [])
}

/** Read anew only when it was replaced: it is asked for each connection. */
function readTable(file: string): Users {
  try {
    const { ino, ctimeMs, mtimeMs, size } = statSync(file)
    // The clock may have been set back meanwhile.
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
