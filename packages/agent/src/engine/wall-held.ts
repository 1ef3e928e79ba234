import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Remembers that a process ran behind a wall on this home: a note that only root can write. */
export interface WallHeld {
  readonly before: boolean
  /** From now on, nothing runs as root because a wall cannot be built. */
  note(): Promise<void>
  /** A person has switched the wall off. */
  forget(): Promise<void>
}

/** The note in `folder`, which belongs to root. Other users need no note: without a wall, their processes do not run as root. */
export function wallHeld(folder: string): WallHeld {
  const file = join(folder, '.wall-held')
  const isRoot = process.geteuid?.() === 0
  return {
    get before() {
      return isRoot && existsSync(file)
    },
    async note() {
      if (isRoot && !existsSync(file))
        await writeFile(file, 'A wall has worked here: without one, nothing starts as root.\n', {
          mode: 0o600,
        })
    },
    forget: () => rm(file, { force: true }),
  }
}
