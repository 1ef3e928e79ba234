export { currentRequestId } from '@fairlead/engine'
export { type ControlPlane, createControlPlane, type World } from './app/app.ts'
export { type Config, ConfigError, loadConfig, printConfigurationDocs } from './config/config.ts'
export { agentSocket } from './config/sockets.ts'
export { softwareVersion } from './config/version.ts'
export { copyEmbedded } from './operator/copy-embedded.ts'
export {
  connectOperator,
  type OperatorLink,
  ServerUnreachable,
  verifyAuditOf,
} from './operator/operator-link.ts'
