import { Type } from 'typebox'
import { operation } from '../contract/operation.ts'
import { getCertificates } from './certificates.ts'
import { Module, moduleDeletion, moduleUpload } from './modules.ts'

const SigningKey = Type.Object({
  kid: Type.String(),
  state: Type.Enum(['next', 'active', 'retired'], {
    description: 'next: announced, and signs from the next rotation on; retired: still verifies',
  }),
  created_time: Type.String(),
})
const SigningKeys = Type.Object({ keys: Type.Array(SigningKey) })

/**
 * Operations for the operator on the server's Unix socket, also when no user can sign in. Access to the
 * socket, which only the owner of FAIRLEAD_HOME has, is the permission.
 */
export const operatorOperations = {
  verifyAudit: operation({
    method: 'POST',
    path: '/v1/audit/verify',
    summary: 'Compare every record of the audit with its hash and its predecessor',
    since: '0.1.0',
    permission: null,
    body: Type.Object({ head: Type.Optional(Type.String()) }, { additionalProperties: false }),
    ok: Type.Object({
      records: Type.Integer(),
      head: Type.String({ description: 'Number and hash of the last record' }),
      removed: Type.Integer({ description: 'Records that were removed because of their age or number' }),
      fault: Type.Optional(Type.String()),
    }),
    errors: [],
  }),
  listSigningKeys: operation({
    method: 'GET',
    path: '/v1/signing_keys',
    summary: 'List the keys that sign tokens',
    since: '0.1.0',
    permission: null,
    ok: SigningKeys,
    errors: [],
  }),
  rotateSigningKeys: operation({
    method: 'POST',
    path: '/v1/signing_keys/rotate',
    summary: 'The next key signs from now on',
    since: '0.1.0',
    permission: null,
    body: Type.Object(
      { drop_all: Type.Boolean({ description: 'Make new keys, and end every token that there is' }) },
      { additionalProperties: false },
    ),
    ok: SigningKeys,
    errors: [],
  }),
  resetPassword: operation({
    method: 'POST',
    path: '/v1/users/reset_password',
    summary: 'Give a user a generated password; unlocks it and lets it in again',
    since: '0.1.0',
    permission: null,
    body: Type.Object({ username: Type.String() }, { additionalProperties: false }),
    ok: Type.Object({ password: Type.String() }),
    errors: ['user_not_exist', 'too_many_requests'],
  }),
  authorizeOperator: operation({
    method: 'POST',
    path: '/v1/operator/authorize',
    summary: 'A token of the operator, who may do everything, for the API of this server',
    since: '0.1.0',
    permission: null,
    ok: Type.Object({
      access_token: Type.String(),
      ttl: Type.Integer({ description: 'Life of the token, in seconds' }),
      url: Type.String({ description: 'Where the API is served on this machine' }),
    }),
    errors: ['unavailable'],
  }),
  getCertificates: operation({ ...getCertificates, permission: null }),
  listModules: operation({
    method: 'GET',
    path: '/v1/modules',
    summary: 'List the modules of the catalogue',
    since: '0.1.0',
    permission: null,
    ok: Type.Array(Module),
    errors: [],
  }),
  uploadModule: operation({
    ...moduleUpload,
    method: 'POST',
    path: '/v1/modules',
    summary: 'Add a module to the catalogue',
    since: '0.1.0',
    permission: null,
  }),
  deleteModule: operation({
    ...moduleDeletion,
    method: 'DELETE',
    path: '/v1/modules/:uid',
    summary: 'Take a module that no database uses out of the catalogue',
    since: '0.1.0',
    permission: null,
  }),
} as const
