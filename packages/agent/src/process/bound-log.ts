import { constants, lstatSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { openPlainFile } from './open-plain-file.ts'

/** The log of a running process is cut when it is longer than this. */
export const MOST_LOG_BYTES = 16 * 1024 * 1024
/** Size of its kept end. */
export const KEPT_LOG_BYTES = 4 * 1024 * 1024
const LOOK_EVERY_MS = 1_000

/**
 * Cuts a log that is longer than MOST_LOG_BYTES to its last KEPT_LOG_BYTES, from the beginning of a line;
 * true if it was cut. Scripts of any client can write about 250 MB/s to its engine's log (`redis.log`). Logs
 * are opened with O_APPEND, so the process continues behind the kept part; lines written at this moment may
 * precede it or be lost.
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

/** Synchronous, at a tenth of the cost, because each log is checked every second. */
function isLong(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found?.isFile() === true && found.size > MOST_LOG_BYTES
}

/** An unreadable log is reported by the attempt to cut it. */
function mayBeLong(path: string): boolean {
  try {
    return isLong(path)
  } catch {
    return true
  }
}

/** Limits the logs at `paths()` until disposed. Called every second, so `paths` should create nothing. */
export function boundLogs(paths: () => Iterable<string>, logger: Logger): AsyncDisposable {
  const end = new AbortController()
  const told = new Set<string>()
  const running = (async () => {
    while (!end.signal.aborted) {
      // Most are short: checking them needs no turn of the event loop.
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

/** A log that always grows is cut every second: that is logged once. */
async function boundAndReport(path: string, told: Set<string>, logger: Logger): Promise<void> {
  try {
    if (!(await boundLog(path)) || told.has(path)) return
    told.add(path)
    logger.warn(
      { log: path },
      `a log was longer than ${MOST_LOG_BYTES} bytes, and was cut to its last part; further cuts are not logged`,
    )
  } catch (cause) {
    // Removed in the meantime, or no space for the kept part: the log is short then.
    if (told.has(path)) return
    told.add(path)
    logger.warn({ err: cause, log: path }, 'a log cannot be cut')
  }
}
