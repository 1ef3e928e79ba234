import { Type } from 'typebox'
import { closed } from '../../contract/closed.ts'
import { ErrorObstacle } from '../../contract/error-obstacle.ts'
import { flag } from '../../contract/fields-query.ts'
import { operation } from '../../contract/operation.ts'
import { DatabaseUid, DataPersistence } from '../databases.ts'

const orNull = <Of extends Type.TInteger | Type.TString>(schema: Of, description: string) =>
  Type.Union([schema, Type.Null()], { description })

/** The effects of a deletion. Bytes. */
export const DeletionPlan = Type.Object({
  possible: Type.Boolean({ description: 'It would be accepted now' }),
  obstacles: Type.Array(ErrorObstacle, { description: 'What is in the way now; empty when it is possible' }),
  clients: orNull(
    Type.Integer(),
    'Connections of clients to its endpoint now; null: clients connect to its shards, or the proxy does not answer',
  ),
  keys: orNull(Type.Integer(), 'Of all groups; null: a primary does not answer'),
  shards: Type.Integer({ description: 'Processes that end, with their data' }),
  replicas: Type.Array(Type.Integer(), { description: 'Shards that follow a primary' }),
  standbys: Type.Array(Type.Integer(), {
    description: 'Shards that a running upgrade keeps for the way back',
  }),
  action_uid: orNull(Type.String(), 'The action that runs on the database; it has to end before'),
  data_persistence: DataPersistence,
  last_saved_time: orNull(
    Type.String(),
    'When a snapshot of every group was written last, by processes that run now; null: not of every group, or that is not known. It is deleted, too; backups stay',
  ),
  memory_used: orNull(
    Type.Integer(),
    'What its processes take of the node now, which is given back; null: not known',
  ),
  memory_reserved: Type.Integer({
    description: 'memory_size with replicas, which other databases can have then; 0: it has no limit',
  }),
})

/**
 * DELETE /v1/bdbs/:uid: removes shards and data permanently; refuses with `db_busy` while an action runs.
 * With `dry_run`, answers with the plan.
 */
export const deleteDatabase = operation({
  method: 'DELETE',
  path: '/v1/bdbs/:uid',
  summary: 'Delete a database with all its data',
  permission: 'delete_bdb',
  params: Type.Object({ uid: DatabaseUid }),
  query: closed({
    dry_run: flag('Change nothing: answer with what would end'),
  }),
  ok: Type.Object({
    uid: DatabaseUid,
    action_uid: Type.Optional(Type.String({ description: 'Absent in a dry run' })),
    plan: Type.Optional(DeletionPlan),
  }),
  errors: ['db_not_exist', 'db_busy', 'unavailable'],
})
