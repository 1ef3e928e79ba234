import type { EndpointSpec } from '@fairlead/api/of-proxies'
import type { RunExclusive } from '@fairlead/engine'
import type { Log } from '../listen/cut-log.ts'
import { writeWanted } from './wanted-file.ts'

/** Writes the wanted endpoints to their file. */
export interface Saving {
  /** False if the last write failed: the next put writes the file even if it changes nothing. */
  readonly isSaved: boolean
  /** Must be called in a turn. Throws if the disk refuses. */
  save(): Promise<void>
  /** Writes in a separate turn: all changes until then are written together. Logs a failure. */
  saveSoon(): void
}

/** Creates the writer of `wanted`, read at each write, to the file at `path`. */
export function createSaving(
  path: string,
  wanted: ReadonlyMap<string, EndpointSpec>,
  runExclusive: RunExclusive,
  log: Log,
): Saving {
  let isSaved = true
  let isDue = false
  const save = async () => {
    isSaved = false
    await writeWanted(path, Object.fromEntries(wanted))
    isSaved = true
  }
  return {
    get isSaved() {
      return isSaved
    },
    save,
    saveSoon() {
      isSaved = false
      if (isDue) return
      isDue = true
      const saved = runExclusive(() => {
        isDue = false
        return save()
      })
      saved.catch((cause: unknown) => log('what is wanted cannot be written', { why: String(cause) }))
    },
  }
}
