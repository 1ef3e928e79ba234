import { randomInt } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Log } from '../listen/cut-log.ts'
import { replaceFile } from '../listen/replace-file.ts'
import { GENERATIONS } from '../remembered/scan-cursors.ts'

/** Numbers for generations of cursors: another engine's cursors get another number (scan-cursors.ts). */
export interface CursorGenerations {
  /** Returns an unused number. Numbers repeat after 65,536 handovers, which no scan survives. */
  take(): number
}

/** Numbers reserved by each write to disk. */
const AHEAD = 64

/** Creates generations that last as long as this process. */
export function createGenerations(first = randomInt(GENERATIONS)): CursorGenerations {
  let next = first
  return {
    take() {
      const taken = next
      next = (next + 1) % GENERATIONS
      return taken
    },
  }
}

/**
 * Continues after all numbers ever taken from the file at `path`, even by a killed process: the number on
 * disk is ahead of all in use. Taking a number does not wait for the disk; a failed write is logged.
 */
export async function openGenerations(path: string, log: Log): Promise<CursorGenerations & AsyncDisposable> {
  const first = await readFirst(path)
  const inMemory = createGenerations(first)
  let left = AHEAD
  let writing: Promise<void> = Promise.resolve()
  const reserve = (from: number) => replaceFile(path, JSON.stringify({ next: (from + AHEAD) % GENERATIONS }))
  await reserve(first)
  return {
    take() {
      const taken = inMemory.take()
      left -= 1
      if (left === AHEAD / 2) {
        left += AHEAD / 2
        writing = writing
          .then(() => reserve(taken))
          .catch((cause: unknown) => log('generations of cursors cannot be written', { why: String(cause) }))
      }
      return taken
    },
    [Symbol.asyncDispose]: () => writing,
  }
}

/** Without the file any number is right: no client has a cursor of a known generation. */
async function readFirst(path: string): Promise<number> {
  const text = await readFile(path, 'utf8').catch(() => '')
  const next = /^\{"next":(\d{1,5})\}$/.exec(text)?.[1]
  return next === undefined ? randomInt(GENERATIONS) : Number(next) % GENERATIONS
}
