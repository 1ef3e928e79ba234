import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type EngineConnection, hashSlot } from '@fairlead/engine'
import { asAdmin } from '../../proof/roles.ts'
import type { Fairlead } from '../../proof/start-fairlead.ts'

/**
 * Writes to every engine, whatever role it reports: there is one counter for each group, and each engine that
 * accepts writes raises it. If two primaries accept writes at the same time, both answer the same number, or
 * a number that one has answered is lost.
 */
export interface PrimaryWatch extends AsyncDisposable {
  /**
   * Ends the watch. Answers the numbers that were answered twice, or are lost; empty: there never were two
   * primaries.
   */
  end(): Promise<readonly string[]>
  /** Answers so far. */
  answered(): number
}

const AGAIN_MS = 5

/** Watches the only database of a Fairlead, with that many groups. It finds new engines, too. */
export function watchPrimaries(fairlead: Fairlead, groups: number): PrimaryWatch {
  const stop = new AbortController()
  const keys = Array.from({ length: groups }, (_, group) => keyOf(group, groups))
  const answers = new Map(keys.map((key) => [key, new Map<number, string>()]))
  const wrong: string[] = []
  const note = (key: string, value: number, who: string) => {
    const known = answers.get(key)
    const before = known?.get(value)
    if (before !== undefined) wrong.push(`${value} of ${key} was answered by ${before} and by ${who}`)
    known?.set(value, who)
  }
  const asking = new Map<string, Promise<void>>()
  const finding = (async () => {
    while (!stop.signal.aborted) {
      for (const shard of namesIn(join(fairlead.home, 'shards'))) {
        if (asking.has(shard)) continue
        const each = keep(fairlead, shard, keys, note, stop.signal).finally(() => asking.delete(shard))
        asking.set(shard, each)
      }
      await pause(20)
    }
  })()
  const finish = async () => {
    stop.abort()
    await finding
    await Promise.all(asking.values())
  }
  return {
    answered: () => [...answers.values()].reduce((sum, { size }) => sum + size, 0),
    async end() {
      await finish()
      for (const [key, known] of answers) {
        const last = await lastOf(fairlead, key)
        const most = Math.max(0, ...known.keys())
        if (last < most) wrong.push(`${most} of ${key} was answered by ${known.get(most)}, and it is ${last}`)
      }
      return wrong
    },
    [Symbol.asyncDispose]: finish,
  }
}

/** Raises each counter at one engine for as long as it answers. Never rejects. */
async function keep(
  fairlead: Fairlead,
  shard: string,
  keys: readonly string[],
  note: (key: string, value: number, who: string) => void,
  stop: AbortSignal,
): Promise<void> {
  try {
    using engine = await asAdmin(fairlead, Number(shard.slice(1)))
    while (!stop.aborted && engine.usable) {
      for (const key of keys) {
        const value = await raise(engine, key)
        if (value !== undefined) note(key, value, shard)
      }
      await pause(AGAIN_MS)
    }
  } catch {
    // The engine does not run yet, or is gone.
  }
}

/** Undefined if the engine accepts no writes of that key. */
async function raise(engine: EngineConnection, key: string): Promise<number | undefined> {
  const answer = await engine.call('INCR', key).catch(() => undefined)
  return answer === undefined ? undefined : Number(answer)
}

async function lastOf(fairlead: Fairlead, key: string): Promise<number> {
  const found: number[] = []
  for (const shard of namesIn(join(fairlead.home, 'shards'))) {
    try {
      using engine = await asAdmin(fairlead, Number(shard.slice(1)))
      if ((await engine.info('replication')).includes('role:master')) {
        const value = await engine.call('GET', key).catch(() => null)
        if (value !== null) found.push(Number(value))
      }
    } catch {
      // The engine is gone.
    }
  }
  return Math.max(0, ...found)
}

/** A key whose slot lies in the middle of the slots of a group. */
function keyOf(group: number, groups: number): string {
  for (let n = 0; ; n += 1) {
    const key = `watch-${group}-${n}`
    const at = (hashSlot(Buffer.from(key)) * groups) / 16_384 - group
    if (at > 0.2 && at < 0.8) return key
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => /^s\d+$/.test(name))
  } catch {
    return []
  }
}
