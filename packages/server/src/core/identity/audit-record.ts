import type { Actor } from './access.ts'

/** Events recorded in the audit, with their severity. */
export const auditTypes = {
  login_succeeded: 'INFO',
  login_failed: 'WARNING',
  user_locked: 'WARNING',
  logged_out: 'INFO',
  permission_refused: 'WARNING',
  password_changed: 'INFO',
  password_added: 'INFO',
  password_removed: 'INFO',
  user_created: 'INFO',
  user_updated: 'INFO',
  user_deleted: 'INFO',
  role_created: 'INFO',
  role_updated: 'INFO',
  role_deleted: 'INFO',
  acl_created: 'INFO',
  acl_updated: 'INFO',
  acl_deleted: 'INFO',
  server_started: 'INFO',
  server_stopped: 'INFO',
  cluster_created: 'INFO',
  cluster_updated: 'INFO',
  signing_key_changed: 'INFO',
  tls_certificate_changed: 'INFO',
  module_uploaded: 'INFO',
  module_deleted: 'INFO',
  engine_fetch_requested: 'INFO',
  /** Earlier versions moved records into files. */
  audit_sealed: 'INFO',
  audit_removed: 'INFO',
  audit_head_missing: 'WARNING',
  bdb_created: 'INFO',
  bdb_updated: 'INFO',
  bdb_upgrade_requested: 'INFO',
  bdb_deleted: 'INFO',
  bdb_command_given: 'INFO',
  bdb_credentials_read: 'INFO',
  bdb_backup_requested: 'INFO',
  bdb_backup_deleted: 'INFO',
  bdb_primary_replaced: 'WARNING',
  bdb_primary_lost_memory: 'WARNING',
  bdb_shard_hung: 'WARNING',
  bdb_handover_lost_writes: 'WARNING',
  bdb_losses_seen: 'INFO',
  bdb_stranger_in_cluster: 'WARNING',
  bdb_slots_taken_back: 'WARNING',
  bdb_action_ordered: 'INFO',
  bdb_action_completed: 'INFO',
  /** A user ordered `rollback` or `cancel`. */
  bdb_action_taken_back: 'INFO',
  bdb_action_failed: 'WARNING',
} as const
/** Type of an event: a key of auditTypes. */
export type AuditType = keyof typeof auditTypes

/** Details are facts about the event, never a secret. */
export interface AuditEvent {
  readonly type: AuditType
  readonly by: Actor
  readonly databaseUid?: number
  readonly details?: Readonly<Record<string, string | number | boolean>>
}

/** One link of the append-only chain. `hash` covers all fields, including the hash of the record before. */
export interface AuditRecord extends AuditEvent {
  readonly seq: number
  /** ISO 8601. */
  readonly at: string
  readonly previous: string
  readonly hash: string
}

/** Fairlead itself, without a request. */
export const fairlead: Actor = { uid: null, name: '', address: null }
/** The machine's operator, through the socket in FAIRLEAD_HOME. */
export const operator: Actor = { uid: null, name: 'operator', address: null }

/** Predecessor hash of the first record. */
export const NO_HASH = '0'.repeat(64)

/** The text whose SHA-256 is the hash of a record: it must stay the same for the same record, for years. */
export function hashedText(record: Omit<AuditRecord, 'hash'>): string {
  const { seq, at, type, by, databaseUid, details = {}, previous } = record
  const sorted = Object.entries(details).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify([seq, at, type, by.uid, by.name, by.address, databaseUid ?? null, sorted, previous])
}
