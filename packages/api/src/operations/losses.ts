import { Type } from 'typebox'
import { closed } from '../contract/closed.ts'
import { operation } from '../contract/operation.ts'
import { DatabaseUid } from './databases.ts'
import { LogEntry } from './logs.ts'

/** GET /v1/losses: records of 30 days, about databases that exist and that the caller may see. */
export const listLosses = operation({
  method: 'GET',
  path: '/v1/losses',
  summary: 'List possible losses of acknowledged writes that no user has seen yet, the newest first',
  permission: 'view_logged_events',
  ok: Type.Array(LogEntry),
})

/** POST /v1/bdbs/:uid/losses_seen: recorded in the audit. Answers with the unseen rest of the database. */
export const seeLosses = operation({
  method: 'POST',
  path: '/v1/bdbs/:uid/losses_seen',
  summary: 'Say that possible losses of a database have been seen, for all users and programs',
  permission: 'update_bdb',
  params: Type.Object({ uid: DatabaseUid }),
  body: closed({
    up_to: Type.Integer({
      minimum: 1,
      description: 'The uid of the last record that was seen; earlier ones count as seen, too',
    }),
  }),
  ok: Type.Array(LogEntry),
  errors: ['db_not_exist'],
})
