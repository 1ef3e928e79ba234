import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMainThread } from 'node:worker_threads'

/**
 * Runs inside of a proxy (--import), and takes down how much processor time each turn of its loop takes: what makes others wait, and is
 * the same on a busy machine. Told to (a file `look` in TURNS_FOLDER), it writes `turns.json` there, and begins anew.
 */

/** A turn is at least that long: the timer is due in each. */
const TICK_MS = 1
const LOOK_EVERY_MS = 20
/** What a turn may take before it counts. */
const LONG_MS = 20

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
  const tick = () => {
    const now = spent()
    const turnMs = now - last
    overMs += Math.max(0, turnMs - LONG_MS)
    mostMs = Math.max(mostMs, turnMs)
    const nowMs = performance.now()
    if (nowMs - lookedMs > LOOK_EVERY_MS) {
      lookedMs = nowMs
      if (existsSync(join(folder, 'look'))) {
        rmSync(join(folder, 'look'))
        writeFileSync(join(folder, 'turns.new'), JSON.stringify({ tookMs: nowMs - beganMs, overMs, mostMs }))
        renameSync(join(folder, 'turns.new'), join(folder, 'turns.json'))
        ;[beganMs, overMs, mostMs] = [nowMs, 0, 0]
      }
    }
    last = spent()
  }
  setInterval(tick, TICK_MS).unref()
}
