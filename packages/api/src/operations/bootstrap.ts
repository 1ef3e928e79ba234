import { Type } from 'typebox'
import { closed } from '../contract/closed.ts'
import { neutralClusterFields } from '../contract/neutral-fields.ts'
import { operation } from '../contract/operation.ts'
import { SupportedVersion } from './cluster.ts'
import { Password } from './identity/passwords.ts'

/** GET /v1/bootstrap: `idle` until the cluster is created, then `completed`. Needs no token. */
export const getBootstrap = operation({
  method: 'GET',
  path: '/v1/bootstrap',
  summary: 'Show whether the cluster was created, and the requirements for that',
  permission: null,
  ok: Type.Object({
    bootstrap_status: Type.Object({
      state: Type.Enum(['idle', 'completed'], { description: 'idle: waits for create_cluster' }),
      end_time: Type.Optional(Type.String()),
    }),
    local_node_info: Type.Optional(
      Type.Object({
        software_version: Type.String(),
        cores: Type.Integer(),
        total_memory: Type.Integer({ description: 'Bytes' }),
        supported_database_versions: Type.Array(SupportedVersion),
      }),
    ),
  }),
})

/** POST /v1/bootstrap/create_cluster: needs the bootstrap secret in the body, and no token. */
export const createCluster = operation({
  method: 'POST',
  path: '/v1/bootstrap/create_cluster',
  summary: 'Create the cluster with its first user, an admin. Works once, and needs the secret',
  permission: null,
  body: closed({
    action: Type.Optional(Type.Literal('create_cluster')),
    bootstrap_secret: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description:
          'Needed where the cluster waits: printed when the server starts, or FAIRLEAD_BOOTSTRAP_SECRET',
      }),
    ),
    cluster: closed({ name: Type.String({ pattern: '^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$' }) }),
    credentials: closed({
      username: Type.String({ minLength: 1, maxLength: 256, pattern: '^[^\\s&<>":\\x00-\\x1f\\x7f]+$' }),
      password: Password,
    }),
  }),
  neutral: neutralClusterFields,
  ok: Type.Object({ action: Type.Literal('create_cluster'), name: Type.String() }),
  errors: [
    'field_not_available',
    'cluster_already_exists',
    'forbidden',
    'password_not_complex',
    'too_many_requests',
  ],
})
