import type { NodeMemory } from './read-node.ts'

/** Answers how much memory the node has, without reading it for every question. Disposing of it ends the readings. */
export interface NodeWatch extends Disposable {
  /** The last reading: at most `everyMs` old, and of just these processes. Throws when the node cannot be read. */
  memory(pids: readonly number[]): Promise<NodeMemory>
}

export interface NodeWatchOptions {
  readonly read: (pids: readonly number[]) => Promise<NodeMemory>
  readonly everyMs?: number
  /** After this long without a caller, nothing is read until the next call; half of `everyMs` unless told. Less than that: questions that come in bursts, once a second, cost one reading each. */
  readonly idleAfterMs?: number
}

interface Reading {
  readonly pids: readonly number[]
  readonly memory: Promise<NodeMemory>
}

/** Reads every `everyMs` while reports are asked for, and stops when none was for `idleAfterMs`. */
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
    // Ended meanwhile, or the processes are others: then theirs is the newer reading.
    if (timer === null) return
    if (latest === before) latest = next
    schedule()
  }

  return {
    async memory(pids) {
      askedAt = performance.now()
      if (timer === null) schedule()
      // Processes that came or went make the last reading wrong at once.
      if (!latest || !isSame(latest.pids, pids)) latest = begin(pids)
      return await latest.memory
    },
    [Symbol.dispose]: stop,
  }
}

function isSame(before: readonly number[], now: readonly number[]): boolean {
  return before === now || (before.length === now.length && before.every((pid, n) => pid === now[n]))
}
