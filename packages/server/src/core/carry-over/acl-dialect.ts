import type { Build } from '@fairlead/api'
import type { CommandTable } from './command-rights.ts'

/** A build and its commands: the vocabulary of users' access rules there. */
export interface AclDialect {
  readonly build: Build
  readonly commands: CommandTable
}
