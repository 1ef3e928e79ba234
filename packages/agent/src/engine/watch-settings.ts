import { createHash } from 'node:crypto'
import type { Reply } from '@fairlead/engine'
import type { ProcessRecord } from '../folder/shard-folder.ts'
import type { Probe } from './ask-engine.ts'

/** The settings of a running engine that people may change: its users, and its configuration. */
export interface SettingsWatch {
  /** Asks, every 30 s and of another process at once. Never throws for what the engine does. */
  look(probe: Pick<Probe, 'callAgain'>, last: Pick<ProcessRecord, 'startedAt'>): Promise<void>
  /** A different text after a setting has changed; empty before the first look at a process. It is a digest, because settings hold secrets. */
  state(): string
}

const LOOK_EVERY_MS = 30_000
const USERS = ['ACL', 'LIST']
const SETTINGS = ['CONFIG', 'GET', '*']

/** Of no process yet. `clock`: milliseconds that only rise. */
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
        // An answer in the same bytes is the very list of before, of some four hundred values.
        if (settings === seen.settings && lines === seen.users) return
        Object.assign(seen, { users: lines, settings })
        const text = [lines, ...pairsOf(listOf(settings))].join('\n')
        seen.state = createHash('sha256').update(text).digest('base64')
      } catch {
        // The probe tells whether the engine answers.
      }
    },
    state: () => seen.state,
  }
}

interface Seen {
  /** When its process was started. */
  of: number
  nextAt: number
  state: string
  /** What the state is of. */
  users: string
  settings: Reply
}

function listOf(reply: Reply): readonly string[] {
  return Array.isArray(reply) ? reply.map(String) : [String(reply)]
}

/** Names with their values, sorted: engines tell them in an order that changes. */
function pairsOf(words: readonly string[]): readonly string[] {
  return words.flatMap((name, n) => (n % 2 === 0 ? [`${name} ${words[n + 1]}`] : [])).toSorted()
}
