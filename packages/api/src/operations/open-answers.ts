import { Type } from 'typebox'
import { operation } from '../contract/operation.ts'

/** GET /v1/license: programs check its end and its number of shards. */
export const getLicense = operation({
  method: 'GET',
  path: '/v1/license',
  summary: 'Fairlead is open: a license that never ends, without a limit',
  permission: 'view_license',
  ok: Type.Object({
    license: Type.Literal('Apache-2.0'),
    expired: Type.Literal(false),
    activation_date: Type.String({ description: 'When the cluster was created' }),
    expiration_date: Type.Null({ description: 'Never' }),
    shards_limit: Type.Null({ description: 'None' }),
    features: Type.Array(Type.Never()),
    owner: Type.String(),
    cluster_name: Type.String(),
  }),
})

/** GET /v1/crdbs: always empty. */
export const listCrdbs = operation({
  method: 'GET',
  path: '/v1/crdbs',
  summary: 'List the databases over several clusters: there are none',
  permission: 'view_crdb_list',
  ok: Type.Array(Type.Never()),
})
