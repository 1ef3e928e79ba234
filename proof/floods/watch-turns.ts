import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMainThread } from 'node:worker_threads'

/**
 * Runs inside of a process (--import), and records the processor time of each turn of its loop: this time
 * makes others wait, and is the same on a busy machine. When the file `look` appears in TURNS_FOLDER, it
 * writes `turns.json` there, and starts again.
 */

/** The length of the timer, which is due in each turn: a turn is at least this long. */
const TICK_MS = 1
const LOOK_EVERY_MS = 20
/** Shorter turns do not count. */
const LONG_MS = 20
/** Turns are counted by their length, in steps of so much. */
const STEP_MS = 0.25

const folder = process.env['TURNS_FOLDER']
if (folder !== undefined && isMainThread) {
  const spent = () => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1_000
  }
  let beganMs = performance.now()
  let lookedMs = beganMs
  let last = spent()
  let overMs = 0
  let mostMs = 0
  /** How long turns of each length took together. */
  let byLength: number[] = []
  /**
   * A client that comes at a random time meets a shorter turn in 99 of 100 cases. Idle time counts as turns
   * without length.
   */
  const p99 = (tookMs: number) => {
    let longer = 0
    for (let n = byLength.length - 1; n >= 0; n -= 1) {
      longer += byLength[n] ?? 0
      if (longer > tookMs / 100) return (n + 1) * STEP_MS
    }
    return 0
  }
  const tick = () => {
    const now = spent()
    const turnMs = now - last
    const length = Math.floor(turnMs / STEP_MS)
    byLength[length] = (byLength[length] ?? 0) + turnMs
    overMs += Math.max(0, turnMs - LONG_MS)
    mostMs = Math.max(mostMs, turnMs)
    const nowMs = performance.now()
    if (nowMs - lookedMs > LOOK_EVERY_MS) {
      lookedMs = nowMs
      if (existsSync(join(folder, 'look'))) {
        rmSync(join(folder, 'look'))
        const tookMs = nowMs - beganMs
        writeFileSync(
          join(folder, 'turns.new'),
          JSON.stringify({ tookMs, overMs, mostMs, p99Ms: p99(tookMs) }),
        )
        renameSync(join(folder, 'turns.new'), join(folder, 'turns.json'))
        ;[beganMs, overMs, mostMs, byLength] = [nowMs, 0, 0, []]
      }
    }
    last = spent()
  }
  setInterval(tick, TICK_MS).unref()
}
