import {
  type Body,
  createCluster,
  fixedPolicies,
  fixedSettings,
  getBootstrap,
  getCluster,
  getJsonSchema,
  getPolicy,
  jsonSchemas,
  type Output,
  Refusal,
  updateCluster,
  updatePolicy,
} from '@fairlead/api'
import type { Settings } from '../../core/identity/settings.ts'
import { refuseOthers } from '../../http/input/refuse-others.ts'
import type { Mount } from '../../http/mount.ts'
import type { Cluster, SettingsChange } from '../../identity/cluster/cluster-service.ts'
import { holdFor } from '../../identity/cluster/hold-for.ts'
import type { Nodes } from '../../nodes/nodes-service.ts'
import { versionToWire } from '../nodes/nodes-routes.ts'

/** Serves settings, policy and creation of the cluster. */
export function clusterRoutes(mount: Mount, cluster: Cluster, nodes: Nodes, softwareVersion: string): void {
  mount(getCluster, async () => toWire(await cluster.settings()))

  mount(updateCluster, async ({ body }, caller) => {
    const change = await changeIn(body, cluster)
    return toWire(await cluster.change(change, caller))
  })

  mount(getPolicy, async () => toPolicy(await cluster.settings()))

  mount(updatePolicy, async ({ body }, caller) => {
    const lockout = {
      ...(body.login_lockout_threshold !== undefined && { threshold: body.login_lockout_threshold }),
      ...(body.login_lockout_counter_reset_after !== undefined && {
        resetAfterSeconds: body.login_lockout_counter_reset_after,
      }),
      ...(body.login_lockout_duration !== undefined && { durationSeconds: body.login_lockout_duration }),
    }
    return toPolicy(await cluster.change({ lockout }, caller))
  })

  const local = holdFor(LOCAL_HOLDS_MS, async () => {
    const [builds, [node]] = await Promise.all([nodes.knownBuilds(), nodes.list()])
    return { node, builds } // an unreachable agent is no reason to refuse
  })
  mount(getBootstrap, async () => {
    const { createdAt } = await cluster.settings()
    const { node, builds } = await local()
    return {
      bootstrap_status:
        createdAt === null
          ? { state: 'idle' as const }
          : { state: 'completed' as const, end_time: createdAt },
      local_node_info: {
        software_version: softwareVersion,
        cores: node?.known?.cores ?? 0,
        total_memory: node?.known?.memoryTotalBytes ?? 0,
        supported_database_versions: builds.map(versionToWire),
      },
    }
  })

  mount(getJsonSchema, async ({ query: { object } }) => {
    if (object === undefined) return jsonSchemas
    if (Object.hasOwn(jsonSchemas, object)) return jsonSchemas[object]
    const others = Object.keys(jsonSchemas).join(', ')
    throw new Refusal('invalid_object', `object: ${object} is none of ${others}`)
  })

  mount(createCluster, async ({ body: { cluster: asked, credentials, bootstrap_secret } }, { address }) => {
    const admin = { name: credentials.username, password: credentials.password }
    const by = { uid: null, name: credentials.username, address }
    await cluster.create(asked.name, admin, by, bootstrap_secret)
    return { action: 'create_cluster' as const, name: asked.name }
  })
}

/** GET /v1/bootstrap needs no token: floods of requests must not reach the agent. */
const LOCAL_HOLDS_MS = 5_000

async function changeIn(
  { name, created_time, ...changed }: Body<typeof updateCluster>,
  cluster: Pick<Cluster, 'settings'>,
): Promise<SettingsChange> {
  const settled = { ...(name !== undefined && { name }), ...(created_time !== undefined && { created_time }) }
  if (Object.keys(settled).length > 0)
    refuseOthers(settled, toWire(await cluster.settings()), 'a cluster keeps it from its creation on')
  return fromWire(changed)
}

function fromWire(body: Omit<Body<typeof updateCluster>, 'name' | 'created_time'>): SettingsChange {
  const passwordRules = {
    ...(body.password_complexity !== undefined && { complexity: body.password_complexity }),
    ...(body.password_min_length !== undefined && { minLength: body.password_min_length }),
  }
  return {
    ...(Object.keys(passwordRules).length > 0 && { passwordRules }),
    ...(body.password_expiration_duration !== undefined && {
      passwordDays: body.password_expiration_duration,
    }),
    ...(body.control_plane_basic_authentication !== undefined && {
      basicAllowed: body.control_plane_basic_authentication,
    }),
    ...(body.module_upload_max_size_mb !== undefined && { moduleUploadMb: body.module_upload_max_size_mb }),
    ...(body.unsound_engines_allowed !== undefined && {
      unsoundEnginesAllowed: body.unsound_engines_allowed,
    }),
  }
}

function toWire(settings: Settings): Output<typeof getCluster> {
  return {
    ...fixedSettings,
    name: settings.name,
    created_time: settings.createdAt ?? '',
    password_complexity: settings.passwordRules.complexity,
    password_min_length: settings.passwordRules.minLength,
    password_expiration_duration: settings.passwordDays,
    control_plane_basic_authentication: settings.basicAllowed,
    module_upload_max_size_mb: settings.moduleUploadMb,
    unsound_engines_allowed: settings.unsoundEnginesAllowed,
  }
}

function toPolicy({ lockout }: Settings): Output<typeof getPolicy> {
  return {
    ...fixedPolicies,
    login_lockout_threshold: lockout.threshold,
    login_lockout_counter_reset_after: lockout.resetAfterSeconds,
    login_lockout_duration: lockout.durationSeconds,
  }
}
