import { Type } from 'typebox'
import { ErrorObstacle } from '../../contract/error-obstacle.ts'
import { operation } from '../../contract/operation.ts'
import { KnownHoles } from '../cluster.ts'
import { DatabaseUid } from '../databases.ts'

/** The admissibility of an upgrade now, with all obstacles. */
const judgement = {
  possible: Type.Boolean({ description: 'A request for it would be accepted now' }),
  obstacles: Type.Array(ErrorObstacle, {
    description: 'Everything that is in the way now; empty when it is possible',
  }),
}

/** A build of the cluster as the target of a database's upgrade. */
export const UpgradeTarget = Type.Object({
  engine: Type.String({ description: 'Flavour: valkey, redis, redict' }),
  engine_version: Type.String({ description: 'Full version' }),
  current: Type.Boolean({ description: 'The database runs it: an upgrade to it changes nothing' }),
  newest: Type.Boolean({ description: 'The newest of its flavour here' }),
  recommended: Type.Boolean({
    description:
      'The one to go to: of all that are possible apart from what is only in the way now, the one whose known holes do the least harm, then of the flavour of the database, then the newest. The present build, if none is better. An upgrade without engine_version stays in the flavour',
  }),
  insecure: Type.Boolean({
    description: 'Through one of its known holes clients can run code in the engine',
  }),
  known_holes: KnownHoles,
  ...judgement,
  modules: Type.Array(
    Type.Object({
      module_name: Type.String(),
      semantic_version: Type.String({ description: 'What the database has, and would keep' }),
      newest_version: Type.Union([Type.String(), Type.Null()], {
        description: 'The newest that this build allows; null: with_newest_modules is not possible',
      }),
    }),
  ),
  with_newest_modules: Type.Union([Type.Object(judgement), Type.Null()], {
    description:
      'The same for an upgrade that names this build and all modules of the database, without their versions; null: the database has no modules',
  }),
})

/**
 * GET /v1/bdbs/:uid/upgrade_targets: every build, the database's flavour first, newest first. Changes
 * nothing; `unavailable` while the agent does not answer.
 */
export const listUpgradeTargets = operation({
  method: 'GET',
  path: '/v1/bdbs/:uid/upgrade_targets',
  summary: 'List the engine builds that a database can be upgraded to, and the obstacles of the others',
  permission: 'view_bdb_info',
  params: Type.Object({ uid: DatabaseUid }),
  ok: Type.Array(UpgradeTarget),
  errors: ['db_not_exist', 'unavailable'],
})
