export { currentRequestId } from '@fairlead/engine'
export { type ControlPlane, createControlPlane, type World } from './app.ts'
export { type Config, ConfigError, loadConfig, printConfigurationDocs } from './config.ts'
export { copyEmbedded } from './operator/copy-embedded.ts'
export {
  connectOperator,
  type OperatorLink,
  ServerUnreachable,
  verifyAuditOf,
} from './operator/operator-link.ts'
export { agentSocket } from './sockets.ts'
export { softwareVersion } from './version.ts'
