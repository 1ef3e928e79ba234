import type { Module as ModuleAnswer } from '@fairlead/api'
import type { Module } from '../../core/modules/module.ts'

/** A module as the API shows it. */
export function toWire(module: Module): ModuleAnswer {
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
