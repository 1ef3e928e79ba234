import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Replaces the file at `path` by `text`, readable by its owner only. After a crash at any point, of the machine
 * included, the file holds either the old text or the new one, whole. Two writers of one path must take turns.
 */
export async function writeDurably(path: string, text: string): Promise<void> {
  const draft = `${path}.draft`
  {
    // What an engine may have put there, a link too, is not written to.
    await rm(draft, { force: true })
    await using file = await open(draft, 'wx', 0o600)
    await file.writeFile(text)
    await file.sync()
  }
  await rename(draft, path)
  // The new name itself is only durable once the folder is.
  await using folder = await open(dirname(path), 'r')
  await folder.sync()
}
