import { execFile } from 'node:child_process'
import { readdir, rm, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/**
 * Lets the server of `home`, which is another user, read root's compile cache in `folder`. Thousands of
 * files: a program opens them in a fifth of the processor time. Throws if the server has no folder of its
 * own.
 */
export async function openToServer(folder: string, home: string): Promise<void> {
  // Other processes may write there meanwhile.
  await promisify(execFile)('chmod', ['-R', 'a+rX', folder]).catch(() => undefined)
  for (const { own, name } of await cachesOf(folder, home))
    await symlink(name, own).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code !== 'EEXIST') throw cause
    })
}

/** Takes back what openToServer has made for this home. */
export async function closeToServer(folder: string, home: string): Promise<void> {
  const caches = await cachesOf(folder, home).catch(() => [])
  await Promise.all(caches.map(({ own }) => rm(own, { force: true })))
}

/**
 * The caches of root in `folder`, and where the server of `home` looks for each: Node ends their names with
 * the number of the user.
 */
async function cachesOf(folder: string, home: string) {
  const { uid } = await stat(join(home, 'server', 'own'))
  if (uid === 0) return []
  // Before the first start of all there is none.
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('-0'))
  return names.map((name) => ({ name, own: join(folder, `${name.slice(0, -1)}${uid}`) }))
}
