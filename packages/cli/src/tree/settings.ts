import type { Config } from '@fairlead/server'

/** What commands need to know of where they run. The configuration is read when a command asks for it: help needs none. */
export interface Settings {
  /** Throws ConfigError. */
  readonly config: () => Promise<Config>
  readonly env: NodeJS.ProcessEnv
}
