import { type TSchema, Type } from 'typebox'
import { closed } from '../contract/closed.ts'
import { operation } from '../contract/operation.ts'
import { Action } from './actions.ts'
import { Node } from './cluster.ts'
import { getCluster, getPolicy } from './cluster-settings.ts'
import { createDatabase, Database } from './databases.ts'
import { Role } from './identity/roles.ts'
import { createUser, User } from './identity/users.ts'
import { LogEntry } from './logs.ts'
import { Module } from './modules.ts'
import { getLicense } from './open-answers.ts'
import { Shard } from './shards.ts'
import { updateDatabase } from './update-database.ts'
import { upgradeDatabase } from './upgrade-database.ts'

/** Objects of the API by name. */
export const jsonSchemas: Readonly<Record<string, TSchema>> = {
  action: Action,
  bdb: Database,
  bdb_create: createDatabase.body,
  bdb_update: updateDatabase.body,
  bdb_upgrade: upgradeDatabase.body,
  cluster: getCluster.ok,
  cluster_settings: getPolicy.ok,
  license: getLicense.ok,
  log: LogEntry,
  module: Module,
  node: Node,
  role: Role,
  shard: Shard,
  user: User,
  user_create: createUser.body,
}

/** GET /v1/jsonschema: one object, or all by name; refuses with `invalid_object`. */
export const getJsonSchema = operation({
  method: 'GET',
  path: '/v1/jsonschema',
  summary: 'JSON schemas of the objects of this API: one, or all by their names',
  permission: 'signed_in',
  query: closed({
    object: Type.Optional(
      Type.String({ maxLength: 64, description: `One of ${Object.keys(jsonSchemas).join(', ')}` }),
    ),
  }),
  ok: Type.Unknown(),
  errors: ['invalid_object'],
})
