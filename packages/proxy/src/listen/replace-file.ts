import { open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Replaces a file, which only its owner can read. After a crash at any point it holds the complete old or the complete new text.
 * Writers must take turns. Throws when it cannot be written.
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  const draft = `${path}.draft`
  {
    await using file = await open(draft, 'w', 0o600)
    await file.writeFile(text)
    await file.sync()
  }
  await rename(draft, path)
  // The new name itself is only durable once the folder is.
  await using folder = await open(dirname(path), 'r')
  await folder.sync()
}
