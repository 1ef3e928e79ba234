import { readdir, readlink, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { codeOf } from '@fairlead/engine'

/** A chain of links in Debian has at most two; this also ends a cycle. */
const maxLinks = 8

/**
 * Finds the file of `path` in a tree of unpacked packages under `root`: absolute links are relative to that
 * root. Null if there is none.
 */
export async function followInside(root: string, path: string, linksLeft = maxLinks): Promise<string | null> {
  if (linksLeft === 0) return null
  try {
    const target = await readlink(path)
    const next = target.startsWith('/') ? join(root, target) : join(dirname(path), target)
    return await followInside(root, next, linksLeft - 1)
  } catch (cause) {
    const code = codeOf(cause)
    if (code === 'EINVAL') return (await stat(path)).isFile() ? path : null
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw cause
  }
}

/** Returns the sorted names in a folder; none if it does not exist. */
export async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).toSorted()
  } catch (cause) {
    const code = codeOf(cause)
    if (code === 'ENOENT' || code === 'ENOTDIR') return []
    throw cause
  }
}
