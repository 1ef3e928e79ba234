export { type ControlPlane, createControlPlane, type World } from './app.ts'
export { agentSocket, type Config, ConfigError, loadConfig, printConfigurationDocs } from './config.ts'
export { softwareVersion } from './version.ts'
