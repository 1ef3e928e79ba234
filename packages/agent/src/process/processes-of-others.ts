import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isEngineUser, isProxyUser } from '@fairlead/engine'
import { isAlive, type ProcessIdentity } from './process-identity.ts'

export interface ProcessOfOther {
  readonly pid: number
  readonly uid: number
}

/** Returns a home's running engines and proxy with another user than `uid`, which cannot control them. */
export function processesOfOthers(home: string, uid: number): readonly ProcessOfOther[] {
  const shards = namesIn(join(home, 'shards')).map((name) => join(home, 'shards', name))
  return [join(home, 'proxy'), ...shards].flatMap((folder) => {
    const identity = identityIn(join(folder, 'process.json'))
    if (identity === null || !isAlive(identity)) return []
    const owner = statSync(`/proc/${identity.pid}`, { throwIfNoEntry: false })?.uid ?? uid
    if (owner === uid) return []
    // Root has started it.
    return [{ pid: identity.pid, uid: isEngineUser(owner) || isProxyUser(owner) ? 0 : owner }]
  })
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return [] // nothing was put there yet
  }
}

function identityIn(file: string): ProcessIdentity | null {
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as { readonly identity: ProcessIdentity | null }).identity
  } catch {
    return null // nothing was started, or there is no record of it
  }
}
