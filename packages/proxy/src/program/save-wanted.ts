import type { EndpointSpec } from '@fairlead/api/of-proxies'
import type { InTurn } from '@fairlead/engine'
import type { Log } from '../listen/cut-log.ts'
import { writeWanted } from './wanted-file.ts'

/** Writes the wanted endpoints to their file. */
export interface Saving {
  /** False: the last write failed, so the next put writes the file even if it changes nothing. */
  readonly isSaved: boolean
  /** To be called in a turn. Throws when the disk refuses. */
  save(): Promise<void>
  /** Writes in a turn of its own: all changes until then are written together. A failure is logged. */
  saveSoon(): void
}

/** `wanted` is read at each write; the file is at `path`. */
export function createSaving(
  path: string,
  wanted: ReadonlyMap<string, EndpointSpec>,
  inTurn: InTurn,
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
      const saved = inTurn(() => {
        isDue = false
        return save()
      })
      saved.catch((cause: unknown) => log('what is wanted cannot be written', { why: String(cause) }))
    },
  }
}
