import type { Config } from '@fairlead/server'
import type { CheckHere } from '../commands/cluster/doctor.ts'

/** Surroundings of commands. */
export interface Settings {
  readonly env: NodeJS.ProcessEnv
  /** Null: the client package. */
  readonly checkHere: CheckHere | null
}

/** Surroundings of commands about this machine. */
export interface MachineSettings extends Settings {
  /** Reads the configuration on demand: help needs none. Throws ConfigError. */
  readonly config: () => Promise<Config>
}
