import {
  cancelAction,
  finalizeAction,
  followAction,
  getAction,
  getActionV2,
  listActions,
  listActionsV2,
  listDatabaseActions,
  pauseAction,
  resumeAction,
  retryAction,
  rollbackAction,
} from './actions.ts'
import { authorizeUser, getJwks, logOut, refreshToken } from './authorize-user.ts'
import { createCluster, getBootstrap } from './bootstrap.ts'
import { getHealth, getOpenApi, listEngineVersions, listNodes } from './cluster.ts'
import { getCluster, getPolicy, updateCluster, updatePolicy } from './cluster-settings.ts'
import {
  createDatabase,
  deleteDatabase,
  getDatabase,
  listDatabaseShards,
  listDatabases,
} from './databases.ts'
import { listLogs } from './logs.ts'
import { addPassword, removePassword, setPassword } from './passwords.ts'
import { createRole, deleteRole, getRole, listRoles, updateRole } from './roles.ts'
import { upgradeDatabase } from './upgrade-database.ts'
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
  deleteDatabase,
  listDatabaseShards,
  upgradeDatabase,
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
  listNodes,
  listEngineVersions,
  getCluster,
  updateCluster,
  getPolicy,
  updatePolicy,
  getBootstrap,
  createCluster,
  listLogs,
  getHealth,
  getOpenApi,
}
