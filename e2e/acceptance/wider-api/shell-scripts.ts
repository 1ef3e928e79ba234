import { expect } from 'vitest'
import type { Replay } from './replay.ts'

const basicOf = (login: string) => `Basic ${Buffer.from(login).toString('base64')}`
const login = { username: 'admin', password: 'the-proof-is-in-the-ledger' }
const token = { access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/) }
const error = (code: string) => ({ error_code: code, message: expect.stringMatching(/\w+/) })

/**
 * curl in scripts of field engineers, from the first look to signing in, with all the forms that a login has.
 */
export const shellScripts: readonly Replay[] = [
  {
    sends: ['GET', '/v1/bootstrap'],
    headers: { authorization: '' },
    reads: {
      bootstrap_status: { state: 'completed' },
      local_node_info: { software_version: expect.any(String), cores: expect.any(Number) },
    },
  },
  {
    sends: ['GET', '/v1/cluster'],
    headers: { authorization: '' },
    status: 401,
    reads: error('unauthorized'),
  },
  {
    sends: ['GET', '/v1/cluster'],
    headers: { authorization: basicOf('admin:wrong') },
    status: 401,
    reads: error('invalid_credentials'),
  },
  {
    sends: ['GET', '/v1/cluster'],
    headers: { authorization: basicOf('nobody@example.org:wrong') },
    status: 401,
    reads: error('invalid_credentials'),
  },
  {
    sends: ['GET', '/v1/cluster'],
    reads: {
      name: expect.any(String),
      created_time: expect.stringMatching(/Z$/),
      password_complexity: false,
    },
  },
  {
    sends: ['POST', '/v1/users/authorize', login],
    headers: { authorization: '' },
    reads: token,
    keeps: { token: ({ access_token }) => access_token },
  },
  {
    sends: ['POST', '/v1/users/authorize', { ...login, ttl: 600 }],
    headers: { authorization: '' },
    reads: token,
  },
  {
    sends: ['POST', '/v1/users/authorize', { ...login, ttl: 86_400 }],
    headers: { authorization: '' },
    reads: token,
  },
  {
    sends: ['POST', '/v1/users/authorize', { ...login, ttl: 0 }],
    headers: { authorization: '' },
    status: 400,
    reads: error('invalid_request'),
  },
  {
    sends: ['POST', '/v1/users/authorize', { ...login, ttl: 86_401 }],
    headers: { authorization: '' },
    status: 400,
    reads: error('invalid_request'),
  },
  {
    sends: ['POST', '/v1/users/authorize', { ...login, ttl: '300' }],
    headers: { authorization: '' },
    status: 400,
    reads: error('invalid_request'),
  },
  {
    sends: ['POST', '/v1/users/authorize', { ...login, ttl: null }],
    headers: { authorization: '' },
    reads: token,
  },
  {
    sends: ['POST', '/v1/users/authorize', { username: 'admin' }],
    headers: { authorization: '' },
    status: 400,
    reads: { message: expect.stringContaining('password') },
  },
  { sends: ['POST', '/v1/users/authorize', {}], headers: { authorization: '' }, status: 400 },
  {
    sends: ['POST', '/v1/users/authorize', { ...login, password: 'wrong' }],
    headers: { authorization: '' },
    status: 401,
    reads: error('invalid_credentials'),
  },
  {
    sends: ['POST', '/v1/users/authorize', '{"username": "admin", "password": '],
    headers: { authorization: '' },
    status: 400,
    reads: { message: expect.stringContaining('JSON') },
  },
  { sends: ['POST', '/v1/users/authorize'], reads: token },
  { sends: ['POST', '/v1/users/authorize', { ttl: 3_600 }], reads: token },
  {
    sends: ['POST', '/v1/users/authorize', JSON.stringify(login)],
    headers: { authorization: '', 'content-type': 'application/json; charset=utf-8' },
    reads: token,
  },
  {
    sends: ['POST', '/v1/users/authorize', JSON.stringify(login)],
    headers: { authorization: '', 'content-type': '' },
    reads: token,
  },
  { sends: ['GET', '/v1/bdbs'], headers: { authorization: 'JWT {token}' }, reads: [] },
  { sends: ['GET', '/v1/bdbs'], headers: { authorization: 'Bearer {token}' }, reads: [] },
  { sends: ['GET', '/v1/bdbs'], headers: { authorization: 'jwt {token}' }, reads: [] },
  {
    sends: ['GET', '/v1/bdbs'],
    headers: { authorization: 'bearer {token}', accept: '*/*', 'user-agent': 'curl/7.88.1' },
    reads: [],
  },
  {
    sends: ['GET', '/v1/bdbs'],
    headers: { authorization: 'JWT not-a-token' },
    status: 401,
    reads: error('unauthorized'),
  },
  {
    sends: ['GET', '/v1/bdbs'],
    headers: { authorization: '{token}' },
    status: 401,
    reads: error('unauthorized'),
  },
  { sends: ['POST', '/v1/users/refresh_jwt'], headers: { authorization: 'JWT {token}' }, reads: token },
  {
    sends: ['POST', '/v1/users/refresh_jwt', { ttl: 60 }],
    headers: { authorization: 'JWT {token}' },
    reads: token,
  },
  { sends: ['POST', '/v1/users/refresh_jwt', { ttl: 60 }], headers: { authorization: '' }, status: 401 },
  { sends: ['GET', '//v1/bdbs'], reads: [] },
  { sends: ['GET', '/v1//bdbs/'], reads: [] },
  {
    sends: ['HEAD', '/v1/bdbs'],
    readsHeaders: { 'content-type': expect.stringContaining('application/json') },
  },
  { sends: ['HEAD', '/v1/cluster'], readsHeaders: { 'content-length': expect.stringMatching(/^\d+$/) } },
  {
    sends: ['PATCH', '/v1/bdbs'],
    status: 405,
    readsHeaders: { allow: 'GET, HEAD, POST' },
    reads: error('method_not_allowed'),
  },
  { sends: ['PUT', '/v1/users/authorize', {}], status: 405, readsHeaders: { allow: 'POST' } },
  { sends: ['GET', '/v1/nothing'], status: 404, reads: error('not_found') },
  { sends: ['GET', '/v1/bdbs/99'], status: 404, reads: error('db_not_exist') },
  { sends: ['GET', '/v1/bdbs/4.0'], status: 400, reads: error('invalid_request') },
  { sends: ['GET', '/v1/bdbs/all'], status: 404 },
  { sends: ['POST', '/v1/bdbs/99/upgrade', {}], status: 404, reads: error('db_not_exist') },
  {
    sends: ['POST', '/v1/bdbs/99/modules/upgrade', { modules: [{ module_name: 'search' }] }],
    status: 404,
    reads: error('db_not_exist'),
  },
  { sends: ['DELETE', '/v1/bdbs/99'], status: 404, reads: error('db_not_exist') },
  { sends: ['GET', '/v1/license'], reads: { expired: false, shards_limit: 1_000_000 } },
  {
    sends: ['GET', '/v1/jsonschema?object=bdb'],
    reads: { type: 'object', properties: { uid: { type: 'integer' }, memory_size: { type: 'integer' } } },
  },
  { sends: ['GET', '/v1/jsonschema'], reads: { bdb: { type: 'object' }, user: { type: 'object' } } },
  { sends: ['GET', '/v1/jsonschema?object=nothing'], status: 406, reads: error('invalid_object') },
  { sends: ['GET', '/v1/crdbs'], reads: [] },
  { sends: ['GET', '/v1/ldap_mappings'], reads: [] },
  { sends: ['GET', '/v1/bdbs/alerts'], reads: {} },
  { sends: ['GET', '/healthz'], headers: { authorization: '' }, reads: { status: 'ok' } },
  { sends: ['GET', '/readyz'], headers: { authorization: '' }, reads: { status: 'ok' } },
  {
    sends: ['GET', '/v1/logs?order=desc&limit=2'],
    reads: [
      {
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
        type: expect.any(String),
        severity: expect.any(String),
      },
      {},
    ],
  },
  { sends: ['GET', '/v1/logs?stime=2020-01-01T00:00:00Z&etime=2020-01-02T00:00:00Z'], reads: [] },
  { sends: ['GET', '/v1/logs?limit=0'], status: 400, reads: error('invalid_request') },
]
