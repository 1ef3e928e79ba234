import { createHash } from 'node:crypto'
import type { Reply } from '@fairlead/engine'
import type { ProcessRecord } from '../folder/shard-folder.ts'
import type { Probe } from './ask-engine.ts'

/** Settings of a running engine that people may change: its users, and its configuration. */
export interface SettingsWatch {
  /** Reads them every 30 s, and immediately for another process. Never throws because of the engine. */
  look(probe: Pick<Probe, 'callAgain'>, last: Pick<ProcessRecord, 'startedAt'>): Promise<void>
  /** Changes with any setting; empty before the first look. A digest, because settings hold secrets. */
  state(): string
}

const LOOK_EVERY_MS = 30_000
const USERS = ['ACL', 'LIST']
const SETTINGS = ['CONFIG', 'GET', '*']

/** Creates a watch without a process. `clock`: monotonic ms. */
export function watchSettings(clock = (): number => performance.now()): SettingsWatch {
  const seen: Seen = { of: 0, nextAt: 0, state: '', users: '', settings: null }
  return {
    async look(probe, { startedAt }) {
      if (seen.of !== startedAt) Object.assign(seen, { of: startedAt, nextAt: 0, state: '', settings: null })
      if (clock() < seen.nextAt) return
      seen.nextAt = clock() + LOOK_EVERY_MS
      try {
        const [users, settings] = await Promise.all([probe.callAgain(USERS), probe.callAgain(SETTINGS)])
        const lines = listOf(users).join('\n')
        // An answer with the same bytes is the same list object, of about 400 values.
        if (settings === seen.settings && lines === seen.users) return
        Object.assign(seen, { users: lines, settings })
        const text = [lines, ...pairsOf(listOf(settings))].join('\n')
        seen.state = createHash('sha256').update(text).digest('base64')
      } catch {
        // The probe reports whether the engine answers.
      }
    },
    state: () => seen.state,
  }
}

interface Seen {
  /** Time of its process's start. */
  of: number
  nextAt: number
  state: string
  /** Inputs of the state. */
  users: string
  settings: Reply
}

function listOf(reply: Reply): readonly string[] {
  return Array.isArray(reply) ? reply.map(String) : [String(reply)]
}

/** Returns names with values, sorted because engines list them in varying order. */
function pairsOf(words: readonly string[]): readonly string[] {
  return words.flatMap((name, n) => (n % 2 === 0 ? [`${name} ${words[n + 1]}`] : [])).toSorted()
}
