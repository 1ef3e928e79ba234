import {
  deleteModule,
  deleteModuleV2,
  getModule,
  listModuleCapabilities,
  listModules,
  type Module as ModuleAnswer,
  moduleCapabilities,
  operatorOperations,
  type Pieces,
  uploadModule,
  uploadModuleV2,
} from '@fairlead/api'
import { type Actor, actorOf } from '../../core/identity/access.ts'
import { operator } from '../../core/identity/audit-record.ts'
import type { Module } from '../../core/modules/module.ts'
import type { Modules } from '../../fleet/modules/modules-service.ts'
import type { Mount } from '../../http/mount.ts'

/** Serves the catalogue of modules to signed-in callers. */
export function modulesRoutes(mount: Mount, modules: Modules): void {
  mount(listModules, async () => (await modules.list()).map(toWire))

  mount(getModule, async ({ params }) => toWire(await modules.get(params.uid)))

  for (const operation of [uploadModule, uploadModuleV2]) {
    mount(operation, ({ file }, caller) => upload(modules, file, actorOf(caller)))
  }

  for (const operation of [deleteModule, deleteModuleV2]) {
    mount(operation, async ({ params }, caller) => ({
      action_uid: (await modules.remove(params.uid, actorOf(caller))).uid,
    }))
  }

  mount(listModuleCapabilities, async () => ({ all_capabilities: [...moduleCapabilities] }))
}

/** The same for the operator, through the socket in FAIRLEAD_HOME. */
export function operatorModulesRoutes(mount: Mount, modules: Modules): void {
  mount(operatorOperations.listModules, async () => (await modules.list()).map(toWire))

  mount(operatorOperations.uploadModule, ({ file }) => upload(modules, file, operator))

  mount(operatorOperations.deleteModule, async ({ params }) => ({
    action_uid: (await modules.remove(params.uid, operator)).uid,
  }))
}

async function upload(modules: Modules, file: Pieces, by: Actor) {
  const { module, action } = await modules.upload(file, by)
  return { ...toWire(module), action_uid: action.uid }
}

/** A module as the API shows it. */
function toWire(module: Module): ModuleAnswer {
  return {
    uid: module.uid,
    module_name: module.name,
    display_name: module.displayName,
    semantic_version: module.semanticVersion,
    version: module.version,
    capability_name: module.capabilityName,
    capabilities: [...module.capabilities],
    command_line_args: module.commandLineArgs,
    config_command: module.configCommand,
    commands: module.commands.map(({ name, arity, firstKey, lastKey, step, flags }) => ({
      command_name: name,
      command_arity: arity,
      first_key: firstKey,
      last_key: lastKey,
      step,
      flags: [...flags],
    })),
    min_redis_version: module.minEngineVersion,
    min_engine_version: module.minEngineVersion,
    compatible_redis_version: module.compatibleEngineVersion,
    compatible_engine_version: module.compatibleEngineVersion,
    min_redis_pack_version: module.minEnginePackVersion,
    min_engine_pack_version: module.minEnginePackVersion,
    ...aboutToWire(module),
    dependencies: {},
    crdb: module.featureSets === null ? {} : { supported_featureset_versions: [...module.featureSets] },
    bigstore_version_2_support: module.bigstoreVersion2,
    is_bundled: false,
    module_file: module.moduleFile,
    sha256: module.sha256,
    size_bytes: module.sizeBytes,
    self_test: module.selfTest.map(({ command, ...reply }) => ({ command: [...command], ...reply })),
    uploaded_time: module.createdAt,
  }
}

function aboutToWire({ author, email, description, homepage, license }: Module) {
  return { author, email, description, homepage, license }
}
