import { type Static, Type } from 'typebox'
import { BackupName } from '../contract/backup-name.ts'
import { closed } from '../contract/closed.ts'
import { operation } from '../contract/operation.ts'
import { DatabaseUid, DataPersistence } from './databases.ts'

/** A backup of a database, on the disk of the node. It stays when the database is deleted. */
export const Backup = Type.Object({
  name: BackupName,
  status: Type.Enum(['running', 'done', 'failed'], {
    description:
      'done: an engine has loaded every file, and its keys were counted. failed: there are no files',
  }),
  status_reason: Type.String({ description: 'Why it failed; empty otherwise' }),
  bdb_uid: DatabaseUid,
  bdb_name: Type.String({ description: 'Name of the database then' }),
  engine: Type.String(),
  engine_version: Type.String(),
  memory_size: Type.Integer({ description: 'That of the database then' }),
  replication: Type.Boolean(),
  sharding: Type.Boolean(),
  shards_count: Type.Integer({ description: 'A new database needs as many to begin with this backup' }),
  data_persistence: DataPersistence,
  bytes: Type.Integer({ description: 'Size of all files; received so far, while it runs' }),
  keys: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Keys that the proof has counted; null unless it is done',
  }),
  created_time: Type.String({
    description: 'When it was begun: it has every write that was acknowledged before',
  }),
  proved_time: Type.Union([Type.String(), Type.Null()], {
    description: 'When the last file had been loaded and counted; null unless it is done',
  }),
  files: Type.Array(
    Type.Object({
      group: Type.Integer(),
      slots: Type.String({ description: '"0-16383"' }),
      format: Type.String({
        description: 'The first bytes, which name the format: "REDIS0011", "VALKEY080"',
      }),
      bytes: Type.Integer(),
      sha256: Type.String(),
      keys: Type.Integer(),
      replication_id: Type.String({ description: 'The history of the primary' }),
      offset: Type.Integer({ description: 'Where in this history the file was taken' }),
    }),
    {
      description: 'One for each group: backups/{name}/group-{group}.rdb in FAIRLEAD_HOME; empty unless done',
    },
  ),
})
export type Backup = Static<typeof Backup>

const BackupParams = Type.Object({ name: BackupName })

/** POST /v1/bdbs/:uid/backups: answers when it has begun. */
export const backUpDatabase = operation({
  method: 'POST',
  path: '/v1/bdbs/:uid/backups',
  summary:
    'Begin a backup of a database, which serves meanwhile; GET /v1/backups/{name} shows how it goes on',
  permission: 'start_bdb_export',
  params: Type.Object({ uid: DatabaseUid }),
  ok: Backup,
  errors: ['db_not_exist', 'db_busy', 'insufficient_resources', 'unavailable'],
})

/** GET /v1/backups: of databases that the caller may see, deleted ones included. */
export const listBackups = operation({
  method: 'GET',
  path: '/v1/backups',
  summary: 'List the backups, also running ones and the last failed one of each database; the newest first',
  permission: 'view_bdb_info',
  query: closed({
    bdb_uid: Type.Optional(Type.Integer({ description: 'Only those of this database, deleted or not' })),
  }),
  ok: Type.Array(Backup),
  errors: ['unavailable'],
})

/** GET /v1/backups/:name: refuses with `backup_not_exist`, also if the caller may not see its database. */
export const getBackup = operation({
  method: 'GET',
  path: '/v1/backups/:name',
  summary: 'Show a backup',
  permission: 'view_bdb_info',
  params: BackupParams,
  ok: Backup,
  errors: ['backup_not_exist', 'unavailable'],
})

/** DELETE /v1/backups/:name: ends a running one. Refuses with `backup_not_exist` as `getBackup` does. */
export const deleteBackup = operation({
  method: 'DELETE',
  path: '/v1/backups/:name',
  summary: 'Delete a backup with its files; one that is running is ended',
  permission: 'start_bdb_export',
  forSome: true,
  params: BackupParams,
  ok: BackupParams,
  errors: ['backup_not_exist', 'unavailable'],
})
