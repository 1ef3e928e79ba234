import { Type } from 'typebox'
import { closed } from '../contract/closed.ts'
import { socketOperation } from '../contract/operation.ts'
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
  verifyAudit: socketOperation({
    method: 'POST',
    path: '/v1/audit/verify',
    summary: 'Compare every record of the audit with its hash and its predecessor',
    body: closed({ head: Type.Optional(Type.String()) }),
    ok: Type.Object({
      records: Type.Integer(),
      head: Type.String({ description: 'Number and hash of the last record' }),
      removed: Type.Integer({ description: 'Records that were removed because of their age or number' }),
      fault: Type.Optional(Type.String()),
    }),
  }),
  listSigningKeys: socketOperation({
    method: 'GET',
    path: '/v1/signing_keys',
    summary: 'List the keys that sign tokens',
    ok: SigningKeys,
  }),
  rotateSigningKeys: socketOperation({
    method: 'POST',
    path: '/v1/signing_keys/rotate',
    summary: 'The next key signs from now on',
    body: closed({
      drop_all: Type.Boolean({ description: 'Make new keys, and end every token that there is' }),
    }),
    ok: SigningKeys,
  }),
  resetPassword: socketOperation({
    method: 'POST',
    path: '/v1/users/reset_password',
    summary: 'Give a user a generated password; unlocks it and lets it in again',
    body: closed({ username: Type.String() }),
    ok: Type.Object({ password: Type.String() }),
    errors: ['user_not_exist', 'too_many_requests'],
  }),
  authorizeOperator: socketOperation({
    method: 'POST',
    path: '/v1/operator/authorize',
    summary: 'A token of the operator, who may do everything, for the API of this server',
    ok: Type.Object({
      access_token: Type.String(),
      ttl: Type.Integer({ description: 'Life of the token, in seconds' }),
      url: Type.String({ description: 'Where the API is served on this machine' }),
    }),
    errors: ['unavailable'],
  }),
  getCertificates: socketOperation({ ...getCertificates, permission: null }),
  listModules: socketOperation({
    method: 'GET',
    path: '/v1/modules',
    summary: 'List the modules of the catalogue',
    ok: Type.Array(Module),
  }),
  uploadModule: socketOperation({
    ...moduleUpload,
    method: 'POST',
    path: '/v1/modules',
    summary: 'Add a module to the catalogue',
  }),
  deleteModule: socketOperation({
    ...moduleDeletion,
    method: 'DELETE',
    path: '/v1/modules/:uid',
    summary: 'Take a module that no database uses out of the catalogue',
  }),
} as const
