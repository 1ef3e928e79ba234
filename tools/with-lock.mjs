import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { explainWriteError } from './set-up-error.mjs'

const pollMs = 200

/**
 * Runs `work` while no other process does anything under the same `name`; waits for as long as that takes.
 *
 * The lock is a folder with its owner's name in it, and every change of owner is one rename: it appears
 * complete, and it is taken from a dead owner by moving it onto the tombstone that has the dead owner's
 * name. That move fails for the second process, because a tombstone is not empty; so a lock whose owner is
 * alive cannot be taken away.
 */
export async function withLock({ folder, name, onWait }, work) {
  const self = identify(process.pid)
  const lock = join(folder, name)
  const tombstone = (owner) => join(folder, `${name}.was-${owner}`)
  for (let waited = false; !take(lock, tombstone(self), self); ) {
    const owner = ownerOf(lock)
    if (owner === undefined) continue
    if (identify(Number(owner.split('-')[0])) !== owner) {
      move(lock, tombstone(owner))
      continue
    }
    if (!waited) onWait?.()
    waited = true
    await delay(pollMs)
  }
  try {
    return await work()
  } finally {
    move(lock, tombstone(self))
    rmSync(tombstone(self), { recursive: true, force: true })
  }
}

function take(lock, tombstone, self) {
  try {
    mkdirSync(tombstone, { recursive: true })
    writeFileSync(join(tombstone, 'owner'), self)
  } catch (error) {
    explainWriteError(error, dirname(lock))
  }
  return move(tombstone, lock)
}

/** True when the rename happened; false when the target exists, or there is nothing to move. */
function move(from, to) {
  try {
    renameSync(from, to)
    return true
  } catch (error) {
    if (['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(error.code)) return false
    return explainWriteError(error, dirname(to))
  }
}

function ownerOf(lock) {
  try {
    return readFileSync(join(lock, 'owner'), 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    return explainWriteError(error, dirname(lock))
  }
}

/**
 * "pid-start": the start time tells a process from a later one that was given the same number. Dead:
 * undefined.
 */
function identify(pid) {
  try {
    process.kill(pid, 0)
  } catch (error) {
    // EPERM: it lives, and belongs to another user.
    if (error.code === 'ESRCH') return undefined
  }
  return `${pid}-${startOf(pid)}`
}

function startOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    // There is no /proc on this platform: the number alone identifies the process.
    return '0'
  }
}
