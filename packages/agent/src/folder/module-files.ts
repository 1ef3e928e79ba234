import { createHash, randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { chmod, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type LoadedModule, type Pieces, Refusal } from '@fairlead/api'
import { modulePath, modulesFolder } from './shard-folder.ts'

/** The module files of a node, each named by its hash. They are not trusted, but hashed before use. */
export interface ModuleFiles {
  /** Returns the sorted hashes of the intact files. */
  list(): Promise<string[]>
  /** Stores the file durably. Refuses a file with another hash, and removes it. */
  put(sha256: string, file: Pieces): Promise<void>
  remove(sha256: string): Promise<void>
  /** Throws an error that names the first missing or changed module. */
  verify(modules: readonly LoadedModule[]): Promise<void>
}

/** Ten times the highest limit for uploads. */
const MAX_BYTES = 10 * 1024 * 1024 * 1024
const DRAFT = '.draft-'

/** Opens the folder of module files under `home`, and removes the rest of an interrupted put. */
export async function openModuleFiles(home: string): Promise<ModuleFiles> {
  const folder = modulesFolder(home)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (const name of await readdir(folder)) {
    if (name.startsWith(DRAFT)) await rm(join(folder, name), { force: true })
  }
  const isWhole = rememberWhole(home)
  return {
    async list() {
      const hashes = (await readdir(folder)).flatMap((name) => /^([0-9a-f]{64})\.so$/.exec(name)?.[1] ?? [])
      const whole = await Promise.all(hashes.map(async (sha256) => (await isWhole(sha256)) === null))
      return hashes.filter((_, n) => whole[n]).toSorted()
    },
    async put(sha256, file) {
      if ((await isWhole(sha256)) === null) return
      await place(folder, sha256, file)
    },
    remove: (sha256) => rm(modulePath(home, sha256), { force: true }),
    async verify(modules) {
      for (const { name, sha256 } of modules) {
        const fault = await isWhole(sha256)
        if (fault !== null) throw new Error(`the file of the module ${name} ${fault} (${sha256}.so)`)
      }
    },
  }
}

async function place(folder: string, sha256: string, pieces: Pieces): Promise<void> {
  const draft = join(folder, `${DRAFT}${randomBytes(8).toString('hex')}`)
  try {
    const found = await writeDraft(draft, pieces)
    if (found !== sha256)
      throw new Refusal('invalid_request', `the uploaded file has the hash ${found}, not ${sha256}`)
    await chmod(draft, 0o755) // engines load nothing that cannot be executed
    await rename(draft, join(folder, `${sha256}.so`))
    await using directory = await open(folder, 'r')
    await directory.sync()
  } finally {
    await rm(draft, { force: true })
  }
}

/** Returns the hash of the written bytes. */
async function writeDraft(draft: string, pieces: Pieces): Promise<string> {
  const hash = createHash('sha256')
  let bytes = 0
  await using file = await open(draft, 'wx', 0o600)
  for await (const piece of pieces) {
    bytes += piece.byteLength
    if (bytes > MAX_BYTES) throw new Refusal('invalid_request', 'no module file is that large')
    hash.update(piece)
    await file.write(piece)
  }
  await file.sync()
  return hash.digest('hex')
}

/**
 * Returns the fault of a hash's file, or null. It is read once, and again when its inode, size or a time has
 * changed: each change affects at least one of these, even if the times were set back.
 */
function rememberWhole(home: string): (sha256: string) => Promise<string | null> {
  const known = new Map<string, string>()
  return async (sha256) => {
    const path = modulePath(home, sha256)
    const status = await stat(path, { bigint: true }).catch(() => null)
    if (status === null) return 'is not on this node'
    const { size, ino, mtimeNs, ctimeNs, mode } = status
    const mark = [size, ino, mtimeNs, ctimeNs].join()
    if (known.get(sha256) !== mark) {
      if ((await hashOf(path)) !== sha256) return 'is damaged: its content has changed since the upload'
      known.set(sha256, mark)
    }
    return (mode & 0o100n) === 0n ? 'is not executable, so no engine loads it; chmod +x repairs that' : null
  }
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}
