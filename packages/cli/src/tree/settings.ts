import type { Config } from '@fairlead/server'
import type { CheckHere } from '../commands/cluster/doctor.ts'

/** What commands need to know of where they run. */
export interface Settings {
  readonly env: NodeJS.ProcessEnv
  /** Null: this is the client alone. */
  readonly checkHere: CheckHere | null
}

/** Of commands that are about this machine. */
export interface MachineSettings extends Settings {
  /** Reads the configuration when a command asks for it: help needs none. Throws ConfigError. */
  readonly config: () => Promise<Config>
}
