import { constants } from 'node:fs'
import { type FileHandle, lchown, lstat, open, opendir, unlink } from 'node:fs/promises'
import { removeTree } from '../process/remove-tree.ts'

/** Limit of nesting, deeper than the server's folders. */
const MOST_DEEP = 4

/**
 * Makes `uid` the owner of a plain file, or of a folder with its content, if it exists. Removes links, pipes
 * and the like, and folders deeper than a server makes: these are not ours. It works on open folders, so that
 * no link leads out.
 */
export async function takeTree(path: string, uid: number, deep = 0): Promise<void> {
  const found = await lstat(path).catch(unlessGone)
  if (!found) return
  if (found.isFile()) return await lchown(path, uid, uid)
  if (!found.isDirectory()) return await unlink(path)
  if (deep > MOST_DEEP) return await removeTree(path)
  await using folder = await openFolder(path)
  const here = `/proc/self/fd/${folder.fd}`
  for await (const entry of await opendir(here)) await takeTree(`${here}/${entry.name}`, uid, deep + 1)
  await folder.chown(uid, uid)
}

function openFolder(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
}

function unlessGone(cause: NodeJS.ErrnoException): void {
  if (cause.code !== 'ENOENT') throw cause
}
