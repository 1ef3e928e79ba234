import { Type } from 'typebox'
import { operation } from '../contract/operation.ts'

/** Programs compute with both. Neither is reached: a node has fewer ports than that many shards. */
export const openLicense = { expiration_date: '2199-12-31T00:00:00Z', shards_limit: 1_000_000 } as const

/** GET /v1/license: programs check its end and its number of shards. */
export const getLicense = operation({
  method: 'GET',
  path: '/v1/license',
  summary: 'Fairlead is open: a license that never ends, without a limit',
  permission: 'view_license',
  ok: Type.Object({
    license: Type.Literal('Apache-2.0'),
    key: Type.Literal('', { description: 'There is none' }),
    expired: Type.Literal(false),
    activation_date: Type.String({ description: 'When the cluster was created' }),
    expiration_date: Type.Literal(openLicense.expiration_date, {
      description: 'Never: a date that every program can compute with',
    }),
    shards_limit: Type.Literal(openLicense.shards_limit, {
      description: 'None: more than a node has ports',
    }),
    ram_shards_limit: Type.Literal(openLicense.shards_limit, { description: 'The same' }),
    ram_shards_in_use: Type.Integer({ description: 'All shards, replicas too' }),
    flash_shards_limit: Type.Literal(0, { description: 'All data is in memory' }),
    flash_shards_in_use: Type.Literal(0),
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
