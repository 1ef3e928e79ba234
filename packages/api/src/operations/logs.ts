import { type Static, Type } from 'typebox'
import { closed, optional } from '../contract/closed.ts'
import { Moment } from '../contract/moment.ts'
import { operation } from '../contract/operation.ts'
import { cursorQuery } from '../contract/page.ts'
import { DatabaseUid } from './databases.ts'

/** One record of the audit. */
export const LogEntry = Type.Object({
  uid: Type.Integer({ description: 'Numbers run without a gap' }),
  time: Type.String({ description: 'In whole seconds' }),
  recorded_at: Type.String({ description: 'Ours: the same with milliseconds' }),
  type: Type.String(),
  severity: Type.Enum(['INFO', 'WARNING']),
  originator: Type.String({ description: 'Name of the user who did it; empty: Fairlead itself' }),
  user_uid: Type.Optional(Type.Integer()),
  address: Type.Optional(Type.String()),
  bdb_uid: Type.Optional(Type.String()),
  details: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()])),
  hash: Type.String({ description: 'SHA-256 over this record and the hash of the one before it' }),
})
export type LogEntry = Static<typeof LogEntry>

/** GET /v1/logs: a page of the audit between two times, in order or in reverse. */
export const listLogs = operation({
  method: 'GET',
  path: '/v1/logs',
  summary: 'List what was done, and by which user: logins, users, roles, refusals, modules, databases',
  permission: 'view_logged_events',
  query: closed({
    stime: Type.Optional(Moment),
    etime: Type.Optional(Moment),
    order: Type.Optional(Type.Enum(['asc', 'desc'], { default: 'asc' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000, default: 1_000 })),
    offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 2_147_483_647, default: 0 })),
    ...cursorQuery,
    ...optional({
      bdb_uid: DatabaseUid,
      action_uid: Type.String({
        pattern: '^[0-9a-f-]{36}$',
        description:
          'Only records about this action: its orders and its end. None while there is no such action',
      }),
      type: Type.String({
        pattern: '^[a-z_]{1,64}$',
        description: 'Only records of this type, as bdb_created',
      }),
      severity: Type.Enum(['INFO', 'WARNING']),
      originator: Type.String({
        maxLength: 256,
        description: 'Name of the user who did it; empty: Fairlead itself',
      }),
    }),
  }),
  paged: true,
  ok: Type.Array(LogEntry),
})
