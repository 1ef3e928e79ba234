import { Type } from 'typebox'

/** Name of a backup and of its folder on the node: that of the database, and when it was begun. */
export const BackupName = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9_-]{0,95}$',
  maxLength: 96,
  description: 'Name of the backup, from GET /v1/backups',
})
