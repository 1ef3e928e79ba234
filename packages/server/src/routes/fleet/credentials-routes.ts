import { getCredentials } from '@fairlead/api'
import { actorOf } from '../../core/identity/access.ts'
import type { Databases } from '../../fleet/databases/databases-service.ts'
import type { Mount } from '../../http/mount.ts'
import type { AuditCounter } from '../../identity/audit/audit-counter.ts'
import { showWithoutSecrets } from './show-database.ts'

/** Serves a database's password. `counter` records each reading first. */
export function credentialsRoutes(
  mount: Mount,
  databases: Pick<Databases, 'get'>,
  counter: Pick<AuditCounter, 'record'>,
): void {
  mount(getCredentials, async ({ params: { uid } }, caller) => {
    const view = await databases.get(uid)
    await counter.record({ type: 'bdb_credentials_read', by: actorOf(caller), databaseUid: uid })
    const { endpoints, tls_mode } = showWithoutSecrets(view)
    return { uid, username: 'default' as const, password: view.database.userPassword, endpoints, tls_mode }
  })
}
