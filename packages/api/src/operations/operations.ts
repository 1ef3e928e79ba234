import {
  followAction,
  getAction,
  getActionV2,
  listActions,
  listActionsV2,
  listDatabaseActions,
} from './actions.ts'
import { createCluster, getBootstrap } from './bootstrap.ts'
import { deleteCertificate, getCertificates, updateCertificate } from './certificates.ts'
import { getHealth, getNode, getOpenApi, getReadiness, listEngineVersions, listNodes } from './cluster.ts'
import { getCluster, getPolicy, updateCluster, updatePolicy } from './cluster-settings.ts'
import { getCredentials } from './credentials.ts'
import { createDatabase, getDatabase, listDatabases } from './databases.ts'
import { getAvailability, getEndpointStats, getLocalAvailability, listEndpointClients } from './endpoints.ts'
import { fetchEngineVersion, listEngineFetches } from './engine-fetches.ts'
import { followEvents } from './events.ts'
import { giveCommand } from './give-command.ts'
import { getHandoverTrace } from './handover-trace.ts'
import { authorizeUser, getJwks, logOut, refreshToken } from './identity/authorize-user.ts'
import { addPassword, removePassword, setPassword } from './identity/passwords.ts'
import { createRole, deleteRole, getRole, listRoles, updateRole } from './identity/roles.ts'
import { beginSession, endSession } from './identity/session.ts'
import {
  createUser,
  deleteUser,
  getOwnRole,
  getSelf,
  getUser,
  listPermissions,
  listPermissionsOfRole,
  listUsers,
  updateUser,
} from './identity/users.ts'
import { getJsonSchema } from './json-schema.ts'
import { listLogs } from './logs.ts'
import { listLosses, seeLosses } from './losses.ts'
import {
  deleteModule,
  deleteModuleV2,
  getModule,
  listModuleCapabilities,
  listModules,
  uploadModule,
  uploadModuleV2,
} from './modules.ts'
import {
  checkCluster,
  checkNode,
  getAccess,
  getNodeStatus,
  listClusterActions,
  listNodeActions,
  listNodeStatuses,
  listNodesActions,
} from './node-status.ts'
import { getLicense, listCrdbs } from './open-answers.ts'
import {
  cancelAction,
  finalizeAction,
  pauseAction,
  redoAction,
  resumeAction,
  retryAction,
  rollbackAction,
} from './orders.ts'
import { deleteDatabase } from './plans/delete-database.ts'
import { listUpgradeTargets } from './plans/upgrade-targets.ts'
import { getShard, listDatabaseShards, listShards } from './shards.ts'
import {
  getClusterStats,
  getDatabaseStats,
  getLastClusterStats,
  getLastDatabaseStats,
  getLastNodeStats,
  getLastShardStats,
  getNodeStats,
  getShardStats,
  listDatabaseStats,
  listLastDatabaseStats,
  listLastNodeStats,
  listLastShardStats,
  listNodeStats,
  listShardStats,
} from './statistics.ts'
import { updateDatabase } from './update-database.ts'
import { upgradeDatabase, upgradeModules, upgradeModulesOlder } from './upgrade-database.ts'

/** All operations of the server's API, by their name in the client and in the OpenAPI document. */
export const operations = {
  authorizeUser,
  refreshToken,
  logOut,
  beginSession,
  endSession,
  getJwks,
  listUsers,
  getSelf,
  getUser,
  createUser,
  updateUser,
  deleteUser,
  setPassword,
  addPassword,
  removePassword,
  listPermissions,
  listPermissionsOfRole,
  getOwnRole,
  listRoles,
  getRole,
  createRole,
  updateRole,
  deleteRole,
  listDatabases,
  createDatabase,
  getDatabase,
  getCredentials,
  updateDatabase,
  deleteDatabase,
  listDatabaseShards,
  listShards,
  getShard,
  getAvailability,
  getLocalAvailability,
  getEndpointStats,
  listEndpointClients,
  giveCommand,
  listUpgradeTargets,
  upgradeDatabase,
  upgradeModules,
  upgradeModulesOlder,
  listActions,
  getAction,
  listDatabaseActions,
  listActionsV2,
  getActionV2,
  getHandoverTrace,
  followAction,
  redoAction,
  retryAction,
  finalizeAction,
  rollbackAction,
  cancelAction,
  resumeAction,
  pauseAction,
  listModules,
  getModule,
  uploadModule,
  uploadModuleV2,
  deleteModule,
  deleteModuleV2,
  listModuleCapabilities,
  listNodes,
  getNode,
  listNodeStatuses,
  getNodeStatus,
  checkCluster,
  checkNode,
  listClusterActions,
  listNodesActions,
  listNodeActions,
  getAccess,
  listEngineVersions,
  fetchEngineVersion,
  listEngineFetches,
  getCluster,
  updateCluster,
  getPolicy,
  updatePolicy,
  getCertificates,
  updateCertificate,
  deleteCertificate,
  getBootstrap,
  createCluster,
  listLogs,
  listLosses,
  seeLosses,
  followEvents,
  getLicense,
  listCrdbs,
  listDatabaseStats,
  getDatabaseStats,
  listLastDatabaseStats,
  getLastDatabaseStats,
  listShardStats,
  getShardStats,
  listLastShardStats,
  getLastShardStats,
  listNodeStats,
  getNodeStats,
  listLastNodeStats,
  getLastNodeStats,
  getClusterStats,
  getLastClusterStats,
  getJsonSchema,
  getHealth,
  getReadiness,
  getOpenApi,
}
