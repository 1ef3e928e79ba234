import type { Build } from '@fairlead/api'
import type { CommandTable } from './command-rights.ts'

/** A build and its commands: what the access rules of users can name there. */
export interface AclDialect {
  readonly build: Build
  readonly commands: CommandTable
}
