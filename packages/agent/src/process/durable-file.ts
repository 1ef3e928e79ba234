import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Replaces the file at `path` by `text`, readable by its owner only. After a crash at any point, of the machine
 * included, the file holds either the old text or the new one, whole. Two writers of one path must take turns.
 */
export async function writeDurably(path: string, text: string): Promise<void> {
  await replaceFile(path, text, (file) => file.sync())
  // The new name itself is only durable once the folder is.
  await using folder = await open(dirname(path), 'r')
  await folder.sync()
}

/**
 * As `writeDurably`, but it does not wait for the disk, and takes a third of the time: after a crash of the machine the file may be empty, or have the old text.
 * For files that are written again before they are needed.
 */
export async function replaceFile(
  path: string,
  text: string,
  written: (file: FileHandle) => Promise<void> = async () => undefined,
): Promise<void> {
  const draft = `${path}.draft`
  {
    // What an engine may have put there, a link too, is not written to.
    await rm(draft, { force: true })
    await using file = await open(draft, 'wx', 0o600)
    await file.writeFile(text)
    await written(file)
  }
  await rename(draft, path)
}
