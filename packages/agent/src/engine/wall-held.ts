import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Record that a wall (sandbox) has worked on this home: a file that is written and read as root only. */
export interface WallHeld {
  readonly before: boolean
  /** From then on, nothing starts as root if a wall cannot be built. */
  note(): Promise<void>
  /** Call when a person has switched the wall off. */
  forget(): Promise<void>
}

/**
 * Opens the record in `folder`. For users other than root `before` is false and `note` writes nothing: their
 * processes never run as root.
 */
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
