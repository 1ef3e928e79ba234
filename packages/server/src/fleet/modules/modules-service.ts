import { randomBytes, randomUUID } from 'node:crypto'
import { open } from 'node:fs/promises'
import { type Pieces, Refusal } from '@fairlead/api'
import { codeOf, createMutex } from '@fairlead/engine'
import type { Actor } from '../../core/identity/access.ts'
import type { AuditType } from '../../core/identity/audit-record.ts'
import type { Settings } from '../../core/identity/settings.ts'
import type { Module, ModuleAction } from '../../core/modules/module.ts'
import { auditStore } from '../../identity/stores/audit-store.ts'
import type { Db, Store } from '../../store/open-store.ts'
import { StoreAway } from '../../store/postgres/postgres-trouble.ts'
import { moduleActionsStore } from '../stores/module-actions-store.ts'
import { modulesStore } from '../stores/modules-store.ts'
import type { ModuleFiles } from './module-files.ts'
import { readPackage } from './read-package.ts'

/** Maximum unpacked size, as a multiple of the upload limit. */
const UNPACKED = 10

export type Modules = Awaited<ReturnType<typeof createModules>>

/** The catalogue of modules. Removes leftovers of crashed uploads and deletions first. */
export async function createModules(deps: {
  readonly store: Store
  readonly files: ModuleFiles
  readonly settings: () => Promise<Pick<Settings, 'moduleUploadMb'>>
  /** Called when no module uses this file any more. */
  readonly onFileGone: (sha256: string) => Promise<void>
  readonly now: () => number
}) {
  const { store, files, onFileGone } = deps
  // Serializes changes of the folder: a file that is unused to one change may be needed by another.
  const runExclusive = createMutex()
  await files.sweep((sha256) => modulesStore(store.db).hasFile(sha256))

  const at = () => new Date(deps.now()).toISOString()

  const dropUnused = async (sha256: string): Promise<boolean> => {
    if (await modulesStore(store.db).hasFile(sha256)) return false
    await files.remove(sha256)
    return true
  }
  /** Stores the file first, so that recorded modules have one. Removes it if the record is refused. */
  const add = async (module: Module, path: string, by: Actor) => {
    await refuseDouble(store.db, module)
    await files.place(path, module.sha256)
    try {
      return await store.transaction(async (db) => {
        await modulesStore(db).insert(module)
        return recordAction(db, 'upload', module, by, at())
      })
    } catch (cause) {
      // The record may exist, so the file stays; the next start removes unused ones.
      if (!(cause instanceof StoreAway)) await dropUnused(module.sha256)
      throw cause
    }
  }

  return {
    /** Sorted by name, the oldest version first. */
    list: () => modulesStore(store.db).list(),
    /** Throws Refusal module_not_exist. */
    get: (uid: string) => find(store.db, uid),

    /** Reads a package from a stream. Throws Refusal without leftovers. */
    async upload(
      file: Pieces,
      by: Actor,
    ): Promise<{ readonly module: Module; readonly action: ModuleAction }> {
      const { moduleUploadMb } = await deps.settings()
      await using draft = files.draft()
      const limits = { bytes: UNPACKED * moduleUploadMb * MB, architecture: process.arch }
      try {
        await receiveFile(file, draft.packagePath, moduleUploadMb)
        const { manifest, ...unpacked } = await readPackage(draft.packagePath, draft.modulePath, limits)
        const module = { ...manifest, ...unpacked, uid: randomBytes(16).toString('hex'), createdAt: at() }
        return { module, action: await runExclusive(() => add(module, draft.modulePath, by)) }
      } catch (cause) {
        throw explainFullDisk(cause)
      }
    },

    /** Throws Refusal module_not_exist, or module_in_use. */
    remove: (uid: string, by: Actor) =>
      runExclusive(async () => {
        const { module, action } = await store.transaction(async (db) => {
          const found = await find(db, uid)
          await refuseUsed(db, found)
          await modulesStore(db).remove(uid)
          return { module: found, action: await recordAction(db, 'delete', found, by, at()) }
        })
        if (await dropUnused(module.sha256)) await onFileGone(module.sha256)
        return action
      }),
  }
}

/** Records an upload's or deletion's action and audit record. */
async function recordAction(
  db: Db,
  kind: ModuleAction['kind'],
  { uid, name, semanticVersion, sha256 }: Module,
  by: Actor,
  at: string,
): Promise<ModuleAction> {
  const details = { module: uid, name, version: semanticVersion, sha256 }
  await auditStore(db).append({ type: recordedAs[kind], by, details }, at)
  const action = { uid: randomUUID(), kind, moduleUid: uid, createdAt: at }
  await moduleActionsStore(db).insert(action)
  return action
}

const recordedAs: { readonly [Kind in ModuleAction['kind']]: AuditType } = {
  upload: 'module_uploaded',
  delete: 'module_deleted',
}

async function find(db: Db, uid: string): Promise<Module> {
  const module = await modulesStore(db).get(uid)
  if (module === undefined) throw new Refusal('module_not_exist', `module ${uid} does not exist`)
  return module
}

async function refuseDouble(db: Db, { name, semanticVersion }: Module): Promise<void> {
  const other = await modulesStore(db).getByVersion(name, semanticVersion)
  if (other === undefined) return
  throw new Refusal(
    'module_exists',
    `${name} ${semanticVersion} is in the catalogue already, as module ${other.uid}; delete that one first, or raise semantic_version`,
  )
}

async function refuseUsed(db: Db, { uid, name, semanticVersion }: Module): Promise<void> {
  const databases = await modulesStore(db).usedBy(uid)
  if (databases.length === 0) return
  throw new Refusal(
    'module_in_use',
    `${name} ${semanticVersion} (${uid}) is used by database ${databases.join(', ')}; upgrade or delete what uses it first`,
  )
}

function explainFullDisk(cause: unknown): unknown {
  if (!['ENOSPC', 'EDQUOT'].includes(codeOf(cause))) return cause
  return new Refusal('unavailable', 'the disk of FAIRLEAD_HOME is full; nothing of the module was kept', {
    cause,
  })
}

/** Writes a stream to a file, at most `maxMb`. Throws Refusal no_module, invalid_module. */
async function receiveFile(pieces: Pieces, path: string, maxMb: number): Promise<void> {
  let bytes = 0
  await using file = await open(path, 'wx', 0o600)
  for await (const piece of pieces) {
    bytes += piece.byteLength
    if (bytes > maxMb * MB) {
      throw new Refusal(
        'invalid_module',
        `the package is larger than ${maxMb} MB; module_upload_max_size_mb of PUT /v1/cluster raises that`,
      )
    }
    await file.writeFile(piece)
  }
  if (bytes === 0) throw new Refusal('no_module', 'the file that came is empty')
}

/** Bytes. */
const MB = 1024 * 1024
