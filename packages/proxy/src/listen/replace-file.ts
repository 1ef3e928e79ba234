import { open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Replaces a file that only its owner can read; after a crash it holds the complete old or new text. Writers
 * must take turns. Throws if it cannot be written.
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  const draft = `${path}.draft`
  {
    await using file = await open(draft, 'w', 0o600)
    await file.writeFile(text)
    await file.sync()
  }
  await rename(draft, path)
  // The new name is durable only after the folder is synced.
  await using folder = await open(dirname(path), 'r')
  await folder.sync()
}
