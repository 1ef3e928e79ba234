import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Replaces the file at `path` by `text`, readable only by its owner. After any crash, also of the machine,
 * the file has either the old or the new text, complete. Writers of one path must take turns.
 */
export async function writeDurably(path: string, text: string): Promise<void> {
  await replaceFile(path, text, (file) => file.sync())
  // The new name is only durable when the folder is synced.
  await using folder = await open(dirname(path), 'r')
  await folder.sync()
}

/**
 * Like `writeDurably`, but does not wait for the disk, and takes a third of the time: after a crash of the
 * machine the file may be empty, or have the old text. For files that are rewritten before they are needed.
 */
export async function replaceFile(
  path: string,
  text: string,
  written: (file: FileHandle) => Promise<void> = async () => undefined,
): Promise<void> {
  const draft = `${path}.draft`
  {
    // Removed, not written to: an engine may have put anything there, even a link.
    await rm(draft, { force: true })
    await using file = await open(draft, 'wx', 0o600)
    await file.writeFile(text)
    await written(file)
  }
  await rename(draft, path)
}
