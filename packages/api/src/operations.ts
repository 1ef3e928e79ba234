import { getAction } from './actions.ts'
import { authorizeUser } from './authorize-user.ts'
import { getHealth, getOpenApi, listEngineVersions, listNodes } from './cluster.ts'
import {
  createDatabase,
  deleteDatabase,
  getDatabase,
  listDatabaseShards,
  listDatabases,
} from './databases.ts'
import { upgradeDatabase } from './upgrade-database.ts'

/** All operations of the server's API, by the name they have in the client and in the OpenAPI document. */
export const operations = {
  authorizeUser,
  listDatabases,
  createDatabase,
  getDatabase,
  deleteDatabase,
  listDatabaseShards,
  upgradeDatabase,
  getAction,
  listNodes,
  listEngineVersions,
  getHealth,
  getOpenApi,
}
