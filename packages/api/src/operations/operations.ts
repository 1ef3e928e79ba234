import {
  followAction,
  getAction,
  getActionV2,
  listActions,
  listActionsV2,
  listDatabaseActions,
} from './actions.ts'
import { authorizeUser, getJwks, logOut, refreshToken } from './authorize-user.ts'
import { createCluster, getBootstrap } from './bootstrap.ts'
import { deleteCertificate, getCertificates, updateCertificate } from './certificates.ts'
import { getHealth, getNode, getOpenApi, listEngineVersions, listNodes } from './cluster.ts'
import { getCluster, getPolicy, updateCluster, updatePolicy } from './cluster-settings.ts'
import { createDatabase, deleteDatabase, getDatabase, listDatabases } from './databases.ts'
import { getAvailability, getEndpointStats, getLocalAvailability, listEndpointClients } from './endpoints.ts'
import { listLogs } from './logs.ts'
import {
  deleteModule,
  deleteModuleV2,
  getModule,
  listModuleCapabilities,
  listModules,
  uploadModule,
  uploadModuleV2,
} from './modules.ts'
import { getLicense, listCrdbs } from './open-answers.ts'
import {
  cancelAction,
  finalizeAction,
  pauseAction,
  resumeAction,
  retryAction,
  rollbackAction,
} from './orders.ts'
import { addPassword, removePassword, setPassword } from './passwords.ts'
import { createRole, deleteRole, getRole, listRoles, updateRole } from './roles.ts'
import { getShard, listDatabaseShards, listShards } from './shards.ts'
import { updateDatabase } from './update-database.ts'
import { upgradeDatabase, upgradeModules, upgradeModulesOlder } from './upgrade-database.ts'
import {
  createUser,
  deleteUser,
  getUser,
  listPermissions,
  listPermissionsOfRole,
  listUsers,
  updateUser,
} from './users.ts'

/** All operations of the server's API, by the name they have in the client and in the OpenAPI document. */
export const operations = {
  authorizeUser,
  refreshToken,
  logOut,
  getJwks,
  listUsers,
  getUser,
  createUser,
  updateUser,
  deleteUser,
  setPassword,
  addPassword,
  removePassword,
  listPermissions,
  listPermissionsOfRole,
  listRoles,
  getRole,
  createRole,
  updateRole,
  deleteRole,
  listDatabases,
  createDatabase,
  getDatabase,
  updateDatabase,
  deleteDatabase,
  listDatabaseShards,
  listShards,
  getShard,
  getAvailability,
  getLocalAvailability,
  getEndpointStats,
  listEndpointClients,
  upgradeDatabase,
  upgradeModules,
  upgradeModulesOlder,
  listActions,
  getAction,
  listDatabaseActions,
  listActionsV2,
  getActionV2,
  followAction,
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
  listEngineVersions,
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
  getLicense,
  listCrdbs,
  getHealth,
  getOpenApi,
}
