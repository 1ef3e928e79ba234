import { createHash } from 'node:crypto'
import type { Reply } from '@fairlead/engine'
import type { ProcessRecord } from '../folder/shard-folder.ts'
import type { Probe } from './ask-engine.ts'

/** The settings of a running engine that people may change: its users, and its configuration. */
export interface SettingsWatch {
  /** Asks, every 30 s and of another process at once. Never throws for what the engine does. */
  look(probe: Pick<Probe, 'call'>, last: Pick<ProcessRecord, 'startedAt'>): Promise<void>
  /** A different text after a setting has changed; empty before the first look at a process. It is a digest, because settings hold secrets. */
  state(): string
}

const LOOK_EVERY_MS = 30_000

/** Of no process yet. `clock`: milliseconds that only rise. */
export function watchSettings(clock = (): number => performance.now()): SettingsWatch {
  const seen = { of: 0, nextAt: 0, state: '' }
  return {
    async look(probe, { startedAt }) {
      if (seen.of !== startedAt) Object.assign(seen, { of: startedAt, nextAt: 0, state: '' })
      if (clock() < seen.nextAt) return
      seen.nextAt = clock() + LOOK_EVERY_MS
      try {
        const [users, settings] = await Promise.all([
          probe.call('ACL', 'LIST'),
          probe.call('CONFIG', 'GET', '*'),
        ])
        const lines = [...listOf(users), ...pairsOf(listOf(settings))]
        seen.state = createHash('sha256').update(lines.join('\n')).digest('base64')
      } catch {
        // The probe tells whether the engine answers.
      }
    },
    state: () => seen.state,
  }
}

function listOf(reply: Reply): readonly string[] {
  return Array.isArray(reply) ? reply.map(String) : [String(reply)]
}

/** Names with their values, sorted: engines tell them in an order that changes. */
function pairsOf(words: readonly string[]): readonly string[] {
  return words.flatMap((name, n) => (n % 2 === 0 ? [`${name} ${words[n + 1]}`] : [])).toSorted()
}
