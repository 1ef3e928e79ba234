import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, open, opendir, rename, rmdir, unlink } from 'node:fs/promises'
import { codeOf } from '@fairlead/engine'

/** A process that outlived its engine may continue to write: the rest is left for the next attempt. */
const WITHIN_MS = 60_000

/**
 * Deletes `path` with its content, and does nothing if it is missing. It works on open folders, at most two
 * at a time: a process that may write there could replace a folder by a link in the meantime, so that its
 * target is deleted. Throws if it could not be deleted; another attempt continues from there.
 */
export async function removeTree(path: string): Promise<void> {
  await using top = await openFolder(path)
  if (top === null) return await unlink(path).catch(allow('ENOENT'))
  const here = pathOf(top)
  const until = performance.now() + WITHIN_MS
  while (await empty(here, (name) => removeFolder(here, name)))
    if (performance.now() > until) throw new Error(`${path} is filled again while it is emptied`)
  await rmdir(path)
}

/** Deletes the files directly in the folder `path` with matching names. Does nothing without a folder. */
export async function removeFiles(path: string, names: RegExp): Promise<void> {
  await using folder = await openFolder(path)
  if (folder === null) return
  const here = pathOf(folder)
  for await (const { name } of await opendir(here))
    if (names.test(name)) await unlink(`${here}/${name}`).catch(allow('ENOENT', 'EISDIR'))
}

/** Moves a folder's subfolders to its parent, and deletes it. New files are left to the next round. */
async function removeFolder(above: string, name: string): Promise<void> {
  {
    await using folder = await openFolder(`${above}/${name}`)
    if (folder === null) return
    const here = pathOf(folder)
    await empty(here, async (each) => {
      await rename(`${here}/${each}`, `${above}/${randomBytes(12).toString('hex')}`).catch(allow('ENOENT'))
    })
  }
  await rmdir(`${above}/${name}`).catch(allow('ENOENT', 'ENOTEMPTY', 'ENOTDIR'))
}

/** Deletes the files of a folder, and calls `take` for its subfolders. True if there was anything. */
async function empty(folder: string, take: (name: string) => Promise<void>): Promise<boolean> {
  let found = false
  for await (const entry of await opendir(folder)) {
    found = true
    if (entry.isDirectory()) await take(entry.name)
    // EISDIR: it has become a folder.
    else await unlink(`${folder}/${entry.name}`).catch(allow('ENOENT', 'EISDIR'))
  }
  return found
}

/** Null if there is no folder. */
async function openFolder(path: string): Promise<FileHandle | null> {
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW
  try {
    return await open(path, flags)
  } catch (cause) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(codeOf(cause))) return null
    throw cause
  }
}

function pathOf(folder: FileHandle): string {
  return `/proc/self/fd/${folder.fd}`
}

function allow(...codes: readonly string[]): (cause: unknown) => void {
  return (cause) => {
    if (!codes.includes(codeOf(cause))) throw cause
  }
}
