import { expect } from 'vitest'
import type { Replay } from './replay.ts'

const ops = `Basic ${Buffer.from('ops@example.org:a-password-of-ops').toString('base64')}`
const refused = (field: string) => ({
  error_code: 'field_not_available',
  message: expect.stringContaining(field),
})
const small = { name: 'never', memory_size: 104_857_600 }

/**
 * Typed clients: users, roles, passwords, modules, settings; and creations with fields that Fairlead does not
 * offer.
 */
export const sdks: readonly Replay[] = [
  {
    sends: ['GET', '/v1/roles'],
    reads: expect.arrayContaining(
      [{ uid: 1, name: 'Admin', management: 'admin' }].map((role) => expect.objectContaining(role)),
    ),
  },
  { sends: ['GET', '/v1/roles/1'], reads: { uid: 1, management: 'admin' } },
  {
    sends: ['POST', '/v1/roles', { name: 'Operators (EU)', management: 'db_member' }],
    reads: { uid: expect.any(Number), name: 'Operators (EU)', management: 'db_member' },
    keeps: { role: ({ uid }) => uid },
  },
  {
    sends: ['POST', '/v1/roles', { name: 'Operators (EU)', management: 'db_member' }],
    status: 409,
    reads: { error_code: 'name_already_exists' },
  },
  {
    sends: ['PUT', '/v1/roles/{role}', { management: 'cluster_member' }],
    reads: { management: 'cluster_member' },
  },
  {
    sends: [
      'POST',
      '/v1/users',
      {
        email: 'ops@example.org',
        password: 'a-password-of-ops',
        name: 'Olga Petrova',
        email_alerts: true,
        bdbs_email_alerts: ['1', '2'],
        role: 'db_member',
        auth_method: 'regular',
      },
    ],
    reads: {
      uid: expect.any(Number),
      email: 'ops@example.org',
      name: 'Olga Petrova',
      email_alerts: true,
      bdbs_email_alerts: ['1', '2'],
      role: 'db_member',
      auth_method: 'regular',
      status: 'active',
      password_issue_date: expect.stringMatching(/Z$/),
    },
    keeps: { user: ({ uid }) => uid },
  },
  {
    sends: ['POST', '/v1/users', { email: 'ops@example.org', password: 'a-password-of-ops', name: 'Other' }],
    status: 409,
    reads: { error_code: 'email_already_exists' },
  },
  { sends: ['GET', '/v1/users'], reads: [{ name: 'admin' }, { name: 'Olga Petrova' }] },
  {
    sends: ['GET', '/v1/users/{user}'],
    reads: {
      uid: expect.any(Number),
      email: 'ops@example.org',
      role_uids: [expect.any(Number)],
      email_alerts: true,
    },
  },
  { sends: ['GET', '/v1/users/99'], status: 404, reads: { error_code: 'user_not_exist' } },
  { sends: ['GET', '/v1/bdbs'], headers: { authorization: ops }, reads: [] },
  {
    sends: ['POST', '/v1/users/authorize', { username: 'ops@example.org', password: 'a-password-of-ops' }],
    headers: { authorization: '' },
    reads: { access_token: expect.any(String) },
  },
  {
    sends: ['POST', '/v1/users/authorize', { username: 'Olga Petrova', password: 'a-password-of-ops' }],
    headers: { authorization: '' },
    reads: { access_token: expect.any(String) },
  },
  { sends: ['GET', '/v1/users/role'], reads: { role: 'admin' } },
  { sends: ['GET', '/v1/users/role'], headers: { authorization: ops }, reads: { role: 'db_member' } },
  { sends: ['GET', '/v1/users/role'], headers: { authorization: '' }, status: 401 },
  {
    sends: ['GET', '/v1/users'],
    headers: { authorization: ops },
    status: 403,
    reads: { error_code: 'forbidden' },
  },
  {
    sends: ['PUT', '/v1/users/{user}', { email_alerts: false, name: 'Olga P' }],
    headers: { authorization: ops },
    reads: { name: 'Olga P', email_alerts: false, email: 'ops@example.org' },
  },
  {
    sends: ['PUT', '/v1/users/{user}', { role_uids: ['{role}'] }],
    status: 400,
    reads: { error_code: 'invalid_request' },
  },
  { sends: ['PUT', '/v1/users/{user}', '{"role_uids": [{role}]}'], reads: { role: 'cluster_member' } },
  { sends: ['DELETE', '/v1/roles/{role}'], status: 406, reads: { error_code: 'role_in_use' } },
  {
    sends: ['PUT', '/v1/users/password', { username: 'ops@example.org', new_password: 'another-of-ops' }],
    reads: {},
  },
  {
    sends: ['GET', '/v1/bdbs'],
    headers: { authorization: ops },
    status: 401,
    reads: { error_code: 'invalid_credentials' },
  },
  {
    sends: ['POST', '/v1/users/password', { username: 'ops@example.org', new_password: 'a-second-of-ops' }],
    reads: {},
  },
  {
    sends: ['DELETE', '/v1/users/password', { username: 'ops@example.org', old_password: 'another-of-ops' }],
    reads: {},
  },
  {
    sends: ['DELETE', '/v1/users/password', { username: 'ops@example.org', old_password: 'a-second-of-ops' }],
    status: 400,
    reads: { error_code: 'cannot_delete_last_password' },
  },
  {
    sends: ['GET', '/v1/users/permissions'],
    reads: { admin: { api_permissions: expect.arrayContaining(['create_bdb']) } },
  },
  { sends: ['GET', '/v1/users/permissions/db_viewer'], reads: {} },
  { sends: ['DELETE', '/v1/users/{user}'], reads: {} },
  { sends: ['DELETE', '/v1/roles/{role}'], reads: {} },
  {
    sends: ['DELETE', '/v1/users/1'],
    status: 406,
    reads: { error_code: 'change_last_admin_role_not_allowed' },
  },
  { sends: ['GET', '/v1/modules'], reads: [] },
  {
    sends: ['GET', '/v1/modules/0123456789abcdef0123456789abcdef'],
    status: 404,
    reads: { error_code: 'module_not_exist' },
  },
  { sends: ['POST', '/v1/modules', {}], status: 400, reads: { error_code: 'no_module' } },
  {
    sends: ['DELETE', '/v2/modules/0123456789abcdef0123456789abcdef'],
    status: 404,
    reads: { error_code: 'module_not_exist' },
  },
  {
    sends: ['GET', '/v1/cluster/module-capabilities'],
    reads: { all_capabilities: expect.arrayContaining([{ name: 'types', desc: expect.any(String) }]) },
  },
  {
    sends: ['GET', '/v1/cluster/policy'],
    reads: {
      login_lockout_threshold: 5,
      login_lockout_counter_reset_after: 900,
      login_lockout_duration: 1_800,
    },
  },
  {
    sends: ['PUT', '/v1/cluster/policy', { login_lockout_threshold: 6 }],
    reads: { login_lockout_threshold: 6 },
  },
  {
    sends: ['PUT', '/v1/cluster/policy', { login_lockout_threshold: 5 }],
    reads: { login_lockout_threshold: 5 },
  },
  { sends: ['PUT', '/v1/cluster', { password_min_length: 10 }], reads: { password_min_length: 10 } },
  {
    sends: ['PUT', '/v1/cluster', { password_min_length: 8, password_complexity: false }],
    reads: { password_min_length: 8 },
  },
  {
    sends: ['PUT', '/v1/cluster/policy', { parallel_shards_upgrade: 0, redis_upgrade_policy: 'latest' }],
    reads: { parallel_shards_upgrade: 0, redis_upgrade_policy: 'latest', default_shards_placement: 'dense' },
  },
  {
    sends: ['PUT', '/v1/cluster/policy', { redis_upgrade_policy: 'major' }],
    status: 400,
    reads: refused('redis_upgrade_policy'),
  },
  {
    sends: ['PUT', '/v1/cluster', { rack_aware: true }],
    status: 400,
    reads: refused('rack_aware'),
  },
  {
    sends: ['GET', '/v1/cluster/certificates'],
    reads: { api_cert: expect.stringContaining('BEGIN CERTIFICATE') },
  },
  { sends: ['POST', '/v1/bdbs', { ...small, crdt: true }], status: 400, reads: refused('crdt') },
  { sends: ['POST', '/v1/bdbs', { ...small, bigstore: true }], status: 400, reads: refused('bigstore') },
  { sends: ['POST', '/v1/bdbs', { ...small, backup: true }], status: 400, reads: refused('backup') },
  {
    sends: ['POST', '/v1/bdbs', { ...small, proxy_policy: 'all-nodes' }],
    status: 400,
    reads: refused('proxy_policy'),
  },
  {
    sends: ['POST', '/v1/bdbs', { ...small, shards_placement: 'sparse' }],
    status: 400,
    reads: refused('shards_placement'),
  },
  {
    sends: ['POST', '/v1/bdbs', { ...small, replica_sources: [{ uri: 'redis://elsewhere:6379' }] }],
    status: 400,
    reads: refused('replica_sources'),
  },
  { sends: ['POST', '/v1/bdbs', { ...small, type: 'memcached' }], status: 400, reads: refused('type') },
  {
    sends: ['POST', '/v1/bdbs', { ...small, tls_mode: 'replica_ssl' }],
    status: 400,
    reads: refused('tls_mode'),
  },
  {
    sends: ['POST', '/v1/bdbs', { ...small, redis_version: '5.0' }],
    status: 400,
    reads: { error_code: 'invalid_version' },
  },
  {
    sends: ['POST', '/v1/bdbs', { memory_size: 1 }],
    status: 400,
    reads: { message: expect.stringContaining('name') },
  },
  {
    sends: ['POST', '/v1/bdbs', { name: 'never' }],
    status: 400,
    reads: { message: expect.stringContaining('memory_size') },
  },
  {
    sends: ['POST', '/v1/bdbs', { ...small, module_list: [{ module_name: 'search', module_args: '' }] }],
    status: 406,
    reads: { error_code: 'missing_module' },
  },
]
