import { type Static, type TSchema, Type } from 'typebox'
import { closed } from '../contract/closed.ts'
import { FETCHED_VERSION, fetchFaults, fetchStates } from '../contract/fetch-faults.ts'
import { operation } from '../contract/operation.ts'

const orNull = <Of extends TSchema>(schema: Of, description: string) =>
  Type.Union([schema, Type.Null()], { description })

/** A fetch of an engine build. */
export const EngineFetch = Type.Object({
  fetch_uid: Type.String(),
  engine: Type.String(),
  engine_version: orNull(Type.String(), 'As it was asked for; null: the newest'),
  also_unstable: Type.Boolean(),
  state: Type.Enum(fetchStates),
  progress: Type.String({ description: 'The last line of its progress; empty at first' }),
  fetched: orNull(
    Type.Object({
      engine: Type.String(),
      engine_version: Type.String({ description: 'Full version' }),
      suite: Type.Optional(Type.String({ description: 'The suite of Debian that it is from' })),
    }),
    'The build that is here now; null: not done',
  ),
  fault: orNull(
    Type.Object({ code: Type.Enum(fetchFaults), message: Type.String() }),
    'Why it failed, in one line; null: it did not',
  ),
  started_time: Type.String(),
  ended_time: orNull(Type.String(), 'null: it runs'),
})
export type EngineFetch = Static<typeof EngineFetch>

/**
 * POST /v1/engine_versions/fetches: answers at once, also with the running fetch of the same build. Refuses
 * with `too_many_requests` while two others run, and `unavailable` while the agent does not answer.
 */
export const fetchEngineVersion = operation({
  method: 'POST',
  path: '/v1/engine_versions/fetches',
  summary:
    "Ours: begin to fetch an engine build from Debian's suites into the folder of builds; two are fetched at a time",
  permission: 'update_cluster',
  body: closed({
    engine: Type.Enum(['valkey', 'redis', 'redict']),
    engine_version: Type.Optional(
      Type.String({
        pattern: FETCHED_VERSION,
        description: '8.1 or 8.1.1; without it the newest that Debian offers',
      }),
    ),
    also_unstable: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Also from the suites in development, sid and experimental',
      }),
    ),
  }),
  ok: EngineFetch,
  errors: ['too_many_requests', 'unavailable'],
})

/** GET /v1/engine_versions/fetches: the agent keeps them in memory, so its restart forgets them. */
export const listEngineFetches = operation({
  method: 'GET',
  path: '/v1/engine_versions/fetches',
  summary: 'Ours: list the running fetches of engine builds and the last ones, the newest first',
  permission: 'view_cluster_info',
  ok: Type.Array(EngineFetch),
  errors: ['unavailable'],
})
