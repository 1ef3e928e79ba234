import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'

/** The content of a module.json, with the fields that other tools write. `self_test` is Fairlead's own. */
export interface ModulePackage {
  readonly module_name: string
  readonly display_name: string
  readonly description: string
  readonly author: string
  readonly email: string
  readonly homepage: string
  readonly license: string
  /** major * 10000 + minor * 100 + patch, as the engine lists it. */
  readonly version: number
  readonly semantic_version: string
  readonly min_redis_version: string
  readonly architecture: string
  readonly os: string
  readonly capabilities: readonly string[]
  readonly commands: readonly ModuleCommand[]
  readonly command_line_args: string
  readonly run_command_line_args: string
  readonly config_command: string
  readonly dependencies: Readonly<Record<string, unknown>>
  readonly ramp_format_version: number
  readonly module_file: string
  /** Of the file `module_file`, in hexadecimal. */
  readonly sha256: string
  readonly self_test: readonly SelfTestStep[]
}

/**
 * A command as COMMAND INFO describes it: the engine does not know the arity of modules' commands, and
 * reports -1.
 */
export interface ModuleCommand {
  readonly command_name: string
  readonly command_arity: number
  readonly first_key: number
  readonly last_key: number
  readonly step: number
  readonly flags: readonly string[]
}

export interface SelfTestStep {
  readonly command: readonly string[]
  /** Absent: any reply except an error counts. */
  readonly reply?: unknown
}

/** The fields that are the same in every package of the tests. */
export const commonFields = {
  author: 'Fairlead',
  email: '',
  homepage: '',
  license: 'Apache-2.0',
  min_redis_version: '7.0',
  architecture: process.arch === 'arm64' ? 'aarch64' : 'x86_64',
  os: 'Linux',
  command_line_args: '',
  run_command_line_args: '',
  config_command: '',
  dependencies: {},
  ramp_format_version: 1,
} as const

/** A command whose first argument is its one key. */
export function commandOnKey(name: string, ...flags: readonly string[]): ModuleCommand {
  return { command_name: name, command_arity: -1, first_key: 1, last_key: 1, step: 1, flags }
}

/** The digest of a file as module.json has it. */
export async function sha256Of(file: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(file))
    .digest('hex')
}
