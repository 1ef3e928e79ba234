import { type Static, Type } from 'typebox'
import { fixedPolicies, fixedSettings, schemasOf } from '../contract/fixed-fields.ts'
import { neutralPolicies, neutralSettings } from '../contract/neutral-fields.ts'
import { operation } from '../contract/operation.ts'
import { settledFields } from '../contract/settled-fields.ts'

const settingFields = {
  password_complexity: Type.Boolean({
    description:
      'New passwords need an upper and a lower case letter, a digit and another character, must not contain the user’s name or e-mail, forwards or backwards, nor any character more than three times in a row',
  }),
  password_min_length: Type.Integer({ minimum: 8, maximum: 256 }),
  password_expiration_duration: Type.Integer({
    minimum: 0,
    maximum: 36_500,
    description:
      'Days from the last change of a password to its expiry; 0: never. Applies to present passwords, too',
  }),
  control_plane_basic_authentication: Type.Boolean({
    description: 'Whether requests may carry name and password (Basic) in place of a token',
  }),
  module_upload_max_size_mb: Type.Integer({
    minimum: 1,
    maximum: 1_024,
    description: 'The largest module package that may be uploaded; unpacked it may be ten times as large',
  }),
  unsound_engines_allowed: Type.Boolean({
    description:
      'Ours: whether databases may start to use engine builds with known holes through which clients can run code in the engine (insecure in /v1/engine_versions). Databases that run such a build go on in any case',
  }),
}

const Cluster = Type.Object({
  name: Type.String(),
  created_time: Type.String(),
  ...settingFields,
  ...schemasOf(fixedSettings),
})

const settledInCluster = settledFields(['name', 'created_time'])

const policyFields = {
  login_lockout_threshold: Type.Integer({
    minimum: 0,
    maximum: 1_000,
    description: 'Wrong passwords in a row that lock a user; 0 is never',
  }),
  login_lockout_counter_reset_after: Type.Integer({
    minimum: 1,
    maximum: 31_536_000,
    description: 'Seconds after the last wrong password until the count starts again at 0',
  }),
  login_lockout_duration: Type.Integer({
    minimum: 0,
    maximum: 31_536_000,
    description: 'Seconds; 0: until an admin sets a new password',
  }),
}
const Policy = Type.Object({ ...policyFields, ...schemasOf(fixedPolicies) })
export type Policy = Static<typeof Policy>

/** GET /v1/cluster: the settings of the whole cluster. */
export const getCluster = operation({
  method: 'GET',
  path: '/v1/cluster',
  summary: 'Show the settings of the cluster',
  permission: 'view_cluster_info',
  ok: Cluster,
})

/** PUT /v1/cluster: changes the sent settings, and answers with all. */
export const updateCluster = operation({
  method: 'PUT',
  path: '/v1/cluster',
  summary: 'Change settings of the cluster',
  permission: 'update_cluster',
  body: Type.Partial(Type.Object({ ...settledInCluster, ...settingFields }), {
    additionalProperties: false,
  }),
  neutral: neutralSettings,
  ok: Cluster,
  errors: ['field_not_available'],
})

/** GET /v1/cluster/policy: the number of failed logins that locks a user, and for how long. */
export const getPolicy = operation({
  method: 'GET',
  path: '/v1/cluster/policy',
  summary: 'Show when users are locked',
  permission: 'view_cluster_info',
  ok: Policy,
})

/** PUT /v1/cluster/policy: changes the sent fields, and answers with the whole policy. */
export const updatePolicy = operation({
  method: 'PUT',
  path: '/v1/cluster/policy',
  summary: 'Change when users are locked',
  permission: 'update_cluster',
  body: Type.Partial(Type.Object(policyFields), { additionalProperties: false }),
  neutral: neutralPolicies,
  ok: Policy,
  errors: ['field_not_available'],
})
