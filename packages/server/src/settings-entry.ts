/**
 * What `up` and the agent take, which are processes of their own: settings and sockets. It loads nothing else
 * of this package: neither a store nor the API.
 */
export { currentRequestId } from '@fairlead/engine'
export { type Config, ConfigError, loadConfig } from './config/config.ts'
export { agentSocket } from './config/sockets.ts'
export { softwareVersion } from './config/version.ts'
