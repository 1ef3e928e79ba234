import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { chmod, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Pieces } from '@fairlead/api'
import type { ModuleSource } from '../../nodes/ensure-modules.ts'

/** The catalogue's shared objects, named by hash. */
export interface ModuleFiles extends ModuleSource {
  /** Two paths in the same folder for unchecked files. Disposing removes them. */
  draft(): Draft
  /** Moves a durable file out of a draft, atomically. */
  place(path: string, sha256: string): Promise<void>
  remove(sha256: string): Promise<void>
  /** Removes leftovers of a crash: drafts, and unwanted files. */
  sweep(wanted: (sha256: string) => Promise<boolean>): Promise<void>
}

export interface Draft extends AsyncDisposable {
  /** For the received package. */
  readonly packagePath: string
  /** For its shared object. */
  readonly modulePath: string
}

const DRAFT = '.draft-'

/** Uses the folder `modules` under `home`, and creates it (0700). */
export async function openModuleFiles(home: string): Promise<ModuleFiles> {
  const folder = join(home, 'modules')
  const pathOf = (sha256: string) => join(folder, `${sha256}.so`)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  return {
    open: (sha256): Pieces => createReadStream(pathOf(sha256)),
    draft() {
      const name = join(folder, `${DRAFT}${randomBytes(8).toString('hex')}`)
      const draft = { packagePath: `${name}.zip`, modulePath: `${name}.so` }
      return {
        ...draft,
        async [Symbol.asyncDispose]() {
          for (const path of Object.values(draft)) await rm(path, { force: true })
        },
      }
    },
    async place(path, sha256) {
      await chmod(path, 0o755)
      await rename(path, pathOf(sha256))
      await using directory = await open(folder, 'r')
      await directory.sync()
    },
    remove: (sha256) => rm(pathOf(sha256), { force: true }),
    async sweep(wanted) {
      for (const name of await readdir(folder)) {
        const sha256 = /^([0-9a-f]{64})\.so$/.exec(name)?.[1]
        const isLeft = sha256 === undefined ? name.startsWith(DRAFT) : !(await wanted(sha256))
        if (isLeft) await rm(join(folder, name), { force: true })
      }
    },
  }
}
