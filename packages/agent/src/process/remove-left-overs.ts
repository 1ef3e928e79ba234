import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { removeTree } from './remove-tree.ts'

/** No trial takes that long: anything older is from a process that is gone. */
const LEFT_AFTER_MS = 120_000

/** Removes what killed trials left in `folder`: anything older than 2 minutes with a name in `prefix`. */
export async function removeLeftOvers(folder: string, prefix: string): Promise<void> {
  const before = Date.now() - LEFT_AFTER_MS
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(prefix)) continue
    const path = join(folder, name)
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found && found.mtimeMs < before) await removeTree(path)
  }
}
