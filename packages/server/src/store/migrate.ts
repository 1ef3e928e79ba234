import { type Migration, Migrator } from 'kysely/migration'
import * as init from './migrations/0001-init.ts'
import * as usersAndRoles from './migrations/0002-users-and-roles.ts'
import * as actionEvents from './migrations/0003-action-events.ts'
import * as groups from './migrations/0004-groups.ts'
import * as modules from './migrations/0005-modules.ts'
import * as endpoints from './migrations/0006-endpoints.ts'
import * as tls from './migrations/0007-tls.ts'
import * as historyOfProcess from './migrations/0008-history-of-process.ts'
import * as obstacles from './migrations/0009-obstacles.ts'
import * as shardTls from './migrations/0010-shard-tls.ts'
import * as loginLanes from './migrations/0011-login-lanes.ts'
import * as auditSegments from './migrations/0012-audit-segments.ts'
import * as limitBefore from './migrations/0013-limit-before.ts'
import * as holdReason from './migrations/0014-hold-reason.ts'
import * as historyBefore from './migrations/0015-history-before.ts'
import * as leases from './migrations/0016-leases.ts'
import * as pathsOfOneDatabase from './migrations/0017-paths-of-one-database.ts'
import * as indexesOfOne from './migrations/0018-indexes-of-one.ts'
import * as largeNumbers from './migrations/0019-large-numbers.ts'
import * as alertsOfUsers from './migrations/0020-alerts-of-users.ts'
import * as statistics from './migrations/0021-statistics.ts'
import * as whatActionsWaitFor from './migrations/0022-what-actions-wait-for.ts'
import * as traceOfAction from './migrations/0023-trace-of-action.ts'
import * as sessions from './migrations/0024-sessions.ts'
import * as oneOrderOfEvents from './migrations/0025-one-order-of-events.ts'
import * as lists from './migrations/0026-lists.ts'
import * as tapesOfHandovers from './migrations/0027-tapes-of-handovers.ts'
import * as moreLists from './migrations/0028-more-lists.ts'
import * as noStatistics from './migrations/0029-no-statistics.ts'
import * as auditInOneChain from './migrations/0030-audit-in-one-chain.ts'
import type { Db } from './store.ts'

/** Numbered and forward only. The name is the order. */
export const migrations: Readonly<Record<string, Migration>> = {
  '0001-init': init,
  '0002-users-and-roles': usersAndRoles,
  '0003-action-events': actionEvents,
  '0004-groups': groups,
  '0005-modules': modules,
  '0006-endpoints': endpoints,
  '0007-tls': tls,
  '0008-history-of-process': historyOfProcess,
  '0009-obstacles': obstacles,
  '0010-shard-tls': shardTls,
  '0011-login-lanes': loginLanes,
  '0012-audit-segments': auditSegments,
  '0013-limit-before': limitBefore,
  '0014-hold-reason': holdReason,
  '0015-history-before': historyBefore,
  '0016-leases': leases,
  '0017-paths-of-one-database': pathsOfOneDatabase,
  '0018-indexes-of-one': indexesOfOne,
  '0019-large-numbers': largeNumbers,
  '0020-alerts-of-users': alertsOfUsers,
  '0021-statistics': statistics,
  '0022-what-actions-wait-for': whatActionsWaitFor,
  '0023-trace-of-action': traceOfAction,
  '0024-sessions': sessions,
  '0025-one-order-of-events': oneOrderOfEvents,
  '0026-lists': lists,
  '0027-tapes-of-handovers': tapesOfHandovers,
  '0028-more-lists': moreLists,
  '0029-no-statistics': noStatistics,
  '0030-audit-in-one-chain': auditInOneChain,
}

/** Migrates the schema. Throws if a newer Fairlead wrote it, or if a migration failed and was rolled back. */
export async function migrate(db: Db): Promise<void> {
  const { error, results } = await new Migrator({
    db,
    provider: { getMigrations: async () => ({ ...migrations }) },
  }).migrateToLatest()
  if (error === undefined) return
  const failed = results?.find(({ status }) => status === 'Error')?.migrationName
  throw new Error(
    failed === undefined
      ? `the store does not fit this version of Fairlead: ${String(error)}`
      : `the store cannot be brought up to date (${failed}): ${String(error)}`,
    { cause: error },
  )
}
