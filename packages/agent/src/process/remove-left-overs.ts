import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { removeTree } from './remove-tree.ts'

/** No try takes that long: what is older has lost its process. */
const LEFT_AFTER_MS = 120_000

/** Removes what tries have left in `folder` that were killed: all whose names begin with `prefix`, older than two minutes. */
export async function removeLeftOvers(folder: string, prefix: string): Promise<void> {
  const before = Date.now() - LEFT_AFTER_MS
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(prefix)) continue
    const path = join(folder, name)
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found && found.mtimeMs < before) await removeTree(path)
  }
}
