import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** What says that something ran behind a wall on this home: root's own note, beside what is walled in. */
export interface WallHeld {
  readonly before: boolean
  /** From now on a wall that cannot be built is no reason to be root. */
  note(): Promise<void>
  /** A person has said that it is to be without. */
  forget(): Promise<void>
}

/** The note in `folder`, which is root's. Of others there is none: without a wall they do not become root. */
export function wallHeld(folder: string): WallHeld {
  const file = join(folder, '.wall-held')
  const isRoot = process.geteuid?.() === 0
  return {
    get before() {
      return isRoot && existsSync(file)
    },
    async note() {
      if (isRoot && !existsSync(file))
        await writeFile(file, 'A wall held here: without one, nothing starts as root.\n', { mode: 0o600 })
    },
    forget: () => rm(file, { force: true }),
  }
}
