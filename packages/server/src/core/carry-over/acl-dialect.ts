import type { Build } from '@fairlead/api'
import type { CommandTable } from './command-rights.ts'

/** What a build knows of the language of access rules. */
export interface AclDialect {
  readonly build: Build
  readonly commands: CommandTable
}
