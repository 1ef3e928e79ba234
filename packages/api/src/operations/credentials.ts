import { type Static, Type } from 'typebox'
import { operation } from '../contract/operation.ts'
import { DatabaseUid, Endpoint } from './databases.ts'

/** A client's address and login for a database. */
export const Credentials = Type.Object({
  uid: DatabaseUid,
  username: Type.Literal('default', { description: 'The one user of a database' }),
  password: Type.String(),
  endpoints: Type.Array(Endpoint, { description: 'Where clients connect; empty while nothing serves yet' }),
  tls_mode: Type.Enum(['enabled', 'disabled'], { description: 'enabled: clients speak TLS' }),
})
export type Credentials = Static<typeof Credentials>

/** GET /v1/bdbs/:uid/credentials: each reading is in the audit before the answer. */
export const getCredentials = operation({
  method: 'GET',
  path: '/v1/bdbs/:uid/credentials',
  summary: 'Show the login of clients of a database. The audit names the user who reads it',
  permission: 'update_bdb',
  secret: true,
  params: Type.Object({ uid: DatabaseUid }),
  ok: Credentials,
  errors: ['db_not_exist'],
})
