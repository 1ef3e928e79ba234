import type { Build } from '@fairlead/api'
import type { CommandTable } from './command-rights.ts'

/** Which words of access rules a build knows. */
export interface AclDialect {
  readonly build: Build
  readonly commands: CommandTable
}
