import { Type } from 'typebox'
import type { Module } from '../../core/modules/module.ts'
import type { Db } from '../../store/open-store.ts'
import { jsonColumn } from '../../store/stored-column.ts'
import type { Tables } from '../../store/tables.ts'

/**
 * The catalogue. Files are stored separately, named by hash. Rows of `modules`; `db` may be a transaction.
 */
export function modulesStore(db: Db) {
  const find = () => db.selectFrom('modules').selectAll()
  return {
    /** Sorted by name, the oldest version first. */
    async list(): Promise<readonly Module[]> {
      const modules = (await find().orderBy('name').execute()).map(fromRow)
      return modules.toSorted((a, b) => (a.name === b.name ? a.version - b.version : 0))
    },
    get: async (uid: string) => one(await find().where('uid', '=', uid).executeTakeFirst()),
    getByVersion: async (name: string, semanticVersion: string) =>
      one(
        await find()
          .where('name', '=', name)
          .where('semantic_version', '=', semanticVersion)
          .executeTakeFirst(),
      ),
    /** Returns whether any module has this file. */
    hasFile: async (sha256: string) =>
      (await find().where('sha256', '=', sha256).limit(1).executeTakeFirst()) !== undefined,
    /** Names of databases that name the module, whose shards still run it, or whose action involves it. */
    async usedBy(uid: string): Promise<readonly string[]> {
      const named = `%"uid":"${uid}"%` // from JSON.stringify; a uid is hexadecimal
      const databases = db.selectFrom('databases').select('uid').where('modules', 'like', named)
      const shards = db.selectFrom('shards').select('database_uid as uid').where('modules', 'like', named)
      const goals = db
        .selectFrom('actions')
        .select('database_uid as uid')
        .where('status', 'in', ['queued', 'running'])
        .where((is) => is.or([is('goal', 'like', named), is('asked', 'like', named)]))
      const rows = await Promise.all([databases.execute(), shards.execute(), goals.execute()])
      const uids = [...new Set(rows.flat().map((row) => row.uid))]
      if (uids.length === 0) return []
      const users = await db
        .selectFrom('databases')
        .select(['uid', 'name'])
        .where('uid', 'in', uids)
        .execute()
      const names = new Map(users.map((user) => [user.uid, user.name]))
      // Also one whose row is gone before its shards.
      return uids.map((user) => names.get(user) ?? String(user)).toSorted()
    },
    async insert({ uid, sha256, sizeBytes, createdAt, ...manifest }: Module): Promise<void> {
      const { name, semanticVersion } = manifest
      await db
        .insertInto('modules')
        .values({
          uid,
          name,
          sha256,
          size_bytes: sizeBytes,
          created_at: createdAt,
          semantic_version: semanticVersion,
          manifest: JSON.stringify(manifest),
        })
        .execute()
    },
    async remove(uid: string): Promise<void> {
      await db.deleteFrom('modules').where('uid', '=', uid).execute()
    },
  }
}

const TextOrNull = Type.Union([Type.String(), Type.Null()])

/** Stored form of a module's module.json, in our words. */
const StoredManifest = Type.Object({
  name: Type.String(),
  displayName: Type.String(),
  semanticVersion: Type.String(),
  version: Type.Integer(),
  capabilities: Type.Array(Type.String()),
  capabilityName: Type.String(),
  minEngineVersion: TextOrNull,
  compatibleEngineVersion: TextOrNull,
  minEnginePackVersion: TextOrNull,
  commandLineArgs: Type.String(),
  configCommand: Type.String(),
  commands: Type.Array(
    Type.Object({
      name: Type.String(),
      arity: Type.Integer(),
      firstKey: Type.Integer(),
      lastKey: Type.Integer(),
      step: Type.Integer(),
      flags: Type.Array(Type.String()),
    }),
  ),
  selfTest: Type.Array(
    Type.Object({ command: Type.Array(Type.String()), reply: Type.Optional(Type.Unknown()) }),
  ),
  moduleFile: Type.String(),
  author: Type.String(),
  email: Type.String(),
  description: Type.String(),
  homepage: Type.String(),
  license: Type.String(),
  featureSets: Type.Union([Type.Array(Type.Integer()), Type.Null()]),
  bigstoreVersion2: Type.Boolean(),
})

const manifestOf = jsonColumn('modules', 'manifest', StoredManifest)

function fromRow(row: Tables['modules']): Module {
  return {
    ...manifestOf(row.manifest, row.uid),
    uid: row.uid,
    sha256: row.sha256,
    sizeBytes: Number(row.size_bytes),
    createdAt: row.created_at,
  }
}

function one(row: Tables['modules'] | undefined): Module | undefined {
  return row && fromRow(row)
}
