import { randomBytes } from 'node:crypto'
import { chmod, mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { identifyProcess, type ProcessIdentity } from '../process/process-identity.ts'

/** A folder for unfinished files. Dispose to remove it with its content. */
export interface WorkFolder extends AsyncDisposable {
  readonly path: string
}

/**
 * Makes a work folder in `folder` (the same disk, so finished files can be renamed into place). Removes
 * leftovers of killed processes. Names begin with a dot: see createBuildFinder.
 */
export async function makeWorkFolder(folder: string): Promise<WorkFolder> {
  const isNew = (await mkdir(folder, { recursive: true })) !== undefined
  // Readable by others, whatever the umask, like the work folder: engines run builds as other users.
  if (isNew) await chmod(folder, 0o755)
  await removeLeftovers(folder)
  const self = identifyProcess(process.pid)
  if (!self) throw new Error('this process is not in /proc')
  const path = join(folder, `${nameOf(self)}-${randomBytes(6).toString('hex')}`)
  await mkdir(path)
  // Some helper programs of apt run as other users.
  await chmod(path, 0o755)
  return { path, [Symbol.asyncDispose]: () => remove(path) }
}

function nameOf({ pid, startTime, bootId }: ProcessIdentity): string {
  return `.fetch-${pid}-${startTime}-${bootId}`
}

async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const [, owner = '', pid] = /^(\.fetch-(\d+)-.*)-[0-9a-f]{12}$/.exec(name) ?? []
    if (pid === undefined) continue
    const process = identifyProcess(Number(pid))
    if (process && nameOf(process) === owner) continue
    await remove(join(folder, name))
  }
}

/** Retries, because two processes may remove the same leftovers. */
async function remove(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
}
