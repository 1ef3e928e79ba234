import type { NodeMemory } from './read-node.ts'

/** Caches how much memory the node has. Dispose to end the readings. */
export interface NodeWatch extends Disposable {
  /** Returns the last reading, for these pids, at most `everyMs` old. Throws if the node cannot be read. */
  memory(pids: readonly number[]): Promise<NodeMemory>
}

export interface NodeWatchOptions {
  readonly read: (pids: readonly number[]) => Promise<NodeMemory>
  readonly everyMs?: number
  /**
   * After this long without a caller, reading stops until the next call; default: half of `everyMs`. Shorter
   * than that, so bursts of questions, once a second, need one reading each.
   */
  readonly idleAfterMs?: number
}

interface Reading {
  readonly pids: readonly number[]
  readonly memory: Promise<NodeMemory>
}

/** Reads every `everyMs` while reports are requested; stops after `idleAfterMs` without a request. */
export function watchNode({ read, everyMs = 500, idleAfterMs = everyMs / 2 }: NodeWatchOptions): NodeWatch {
  let latest: Reading | null = null
  let timer: NodeJS.Timeout | null = null
  let askedAt = 0

  const begin = (pids: readonly number[]): Reading => {
    const reading = { pids, memory: read(pids) }
    // The caller gets the failure; without a caller, the next reading may succeed.
    reading.memory.catch(() => undefined)
    return reading
  }
  const stop = (): void => {
    if (timer) clearTimeout(timer)
    timer = null
    latest = null
  }
  const schedule = (): void => {
    timer = setTimeout(() => void tick(), everyMs)
    timer.unref()
  }
  const tick = async (): Promise<void> => {
    if (!latest || performance.now() - askedAt > idleAfterMs) return stop()
    const before = latest
    const next = begin(before.pids)
    await next.memory.catch(() => undefined)
    // Stopped, or the processes have changed: then their reading is the newer one.
    if (timer === null) return
    if (latest === before) latest = next
    schedule()
  }

  return {
    async memory(pids) {
      askedAt = performance.now()
      if (timer === null) schedule()
      // If processes have come or gone, the last reading is wrong.
      if (!latest || !isSame(latest.pids, pids)) latest = begin(pids)
      return await latest.memory
    },
    [Symbol.dispose]: stop,
  }
}

function isSame(before: readonly number[], now: readonly number[]): boolean {
  return before === now || (before.length === now.length && before.every((pid, n) => pid === now[n]))
}
