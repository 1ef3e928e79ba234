/**
 * What `up` and the agent take, which are processes of their own: settings, sockets and logs. It loads
 * nothing else of this package: neither a store nor the API.
 */
export { currentRequestId } from '@fairlead/engine'
export { type Config, ConfigError, loadConfig } from './config/config.ts'
export { agentLog, agentSocket, serverLogs, stateFolder } from './config/sockets.ts'
export { softwareVersion } from './config/version.ts'
