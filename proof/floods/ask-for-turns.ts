import { existsSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '../until.ts'

/** In milliseconds; turns are counted in processor time. */
export interface Turns {
  readonly tookMs: number
  /**
   * The sum of the time of turns beyond 20 ms. A client that comes at a random time waits longer than 20 ms
   * with a chance of `overMs` in `tookMs`.
   */
  readonly overMs: number
  readonly mostMs: number
  /** A client that comes at a random time meets a longer turn with a chance of one in a hundred. */
  readonly p99Ms: number
}

/** What a process is started with (--import), besides TURNS_FOLDER, so that it can be asked for its turns. */
export const watchTurns = new URL('watch-turns.ts', import.meta.url).href

/**
 * How long turns of a process were since it was asked last, as watch-turns.ts in it writes them into
 * `folder`.
 */
export async function askForTurns(folder: string): Promise<Turns> {
  const file = join(folder, 'turns.json')
  await rm(file, { force: true })
  await writeFile(join(folder, 'look'), '')
  await until('it says how long its turns were', () => existsSync(file))
  return JSON.parse(await readFile(file, 'utf8')) as Turns // written by watch-turns.ts
}
