import { constants, lstatSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { openPlainFile } from './open-plain-file.ts'

/** A log of a process that runs is cut when it is longer than this. */
export const MOST_LOG_BYTES = 16 * 1024 * 1024
/** What stays of it: its end. */
export const KEPT_LOG_BYTES = 4 * 1024 * 1024
const LOOK_EVERY_MS = 1_000

/**
 * Cuts a log that is longer than MOST_LOG_BYTES to its last KEPT_LOG_BYTES, from the beginning of a line on. A script of any client can write to the log of its
 * engine (`redis.log`), some 250 MB a second. Everything is appended to a log (O_APPEND), so its process goes on
 * behind what is kept. Lines that it writes in the same moment may stand before these, or be lost. Answers whether it was cut.
 */
export async function boundLog(path: string): Promise<boolean> {
  if (!isLong(path)) return false
  await using log = await openPlainFile(path, constants.O_RDWR | constants.O_APPEND)
  const { size } = await log.stat()
  const { buffer, bytesRead } = await log.read(
    Buffer.alloc(KEPT_LOG_BYTES),
    0,
    KEPT_LOG_BYTES,
    size - KEPT_LOG_BYTES,
  )
  const end = buffer.subarray(0, bytesRead)
  await log.truncate(0)
  await log.writeFile(end.subarray(end.indexOf('\n') + 1))
  return true
}

/** It is asked of each log every second, and nearly always that is all: a call that waits for no other thread costs a tenth. */
function isLong(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found?.isFile() === true && found.size > MOST_LOG_BYTES
}

/** What cannot be looked at is reported by the attempt to bound it. */
function mayBeLong(path: string): boolean {
  try {
    return isLong(path)
  } catch {
    return true
  }
}

/** Bounds the logs at `paths()` for as long as it is not disposed of. It is asked every second: nothing is to be made for it. */
export function boundLogs(paths: () => Iterable<string>, logger: Logger): AsyncDisposable {
  const end = new AbortController()
  const told = new Set<string>()
  const running = (async () => {
    while (!end.signal.aborted) {
      // Most are short: that takes no turn of the loop.
      for (const path of [...paths()].filter(mayBeLong)) await boundAndReport(path, told, logger)
      await delay(LOOK_EVERY_MS, undefined, { signal: end.signal }).catch(() => undefined)
    }
  })()
  return {
    async [Symbol.asyncDispose]() {
      end.abort()
      await running
    },
  }
}

/** A log that is filled without an end is cut every second: that is told once. */
async function boundAndReport(path: string, told: Set<string>, logger: Logger): Promise<void> {
  try {
    if (!(await boundLog(path)) || told.has(path)) return
    told.add(path)
    logger.warn(
      { log: path },
      `a log was longer than ${MOST_LOG_BYTES} bytes, and was cut to its last part; further cuts are not logged`,
    )
  } catch (cause) {
    // Removed meanwhile, or no space for what is kept: the log is short by then.
    if (told.has(path)) return
    told.add(path)
    logger.warn({ err: cause, log: path }, 'a log cannot be cut')
  }
}
