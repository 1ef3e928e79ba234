import { join } from 'node:path'
import { createAuditCounter } from '../identity/audit/audit-counter.ts'
import { createAudit } from '../identity/audit/audit-service.ts'
import { keepAudit } from '../identity/audit/keep-audit.ts'
import { readBootstrapSecret } from '../identity/cluster/bootstrap-secret.ts'
import { createCluster } from '../identity/cluster/cluster-service.ts'
import { createHashing } from '../identity/hashing/hashing.ts'
import { createPasswords } from '../identity/passwords/passwords-service.ts'
import { createUserPasswords } from '../identity/passwords/user-passwords.ts'
import { createRoles } from '../identity/roles/roles-service.ts'
import { createBrowserSessions } from '../identity/sessions/browser-sessions.ts'
import { createIdentities } from '../identity/sessions/identities.ts'
import { createLogins } from '../identity/sessions/logins.ts'
import { createSigningKeys } from '../identity/sessions/signing-keys.ts'
import { createTokens } from '../identity/sessions/tokens.ts'
import { sealAll } from '../store/seal-all.ts'
import type { Infrastructure } from './open-infrastructure.ts'

/** Users, logins, passwords, roles and the audit. */
export type Identity = Awaited<ReturnType<typeof assembleIdentity>>

/** Registers what to close in `opened`. Throws if the store's key does not open its sealed values. */
export async function assembleIdentity(
  { config, folder, store, leases, counters, box, now, log, hashCost }: Infrastructure,
  opened: AsyncDisposableStack,
) {
  const hashing = await createHashing(hashCost)
  const identities = createIdentities(store, now)
  const rotateEveryMs = config.keyRotationDays * DAY_MS
  const keys = opened.use(await createSigningKeys({ store, box, rotateEveryMs, now, log }))
  // The secrets opened, so the key is right.
  await sealAll(store)
  const sessionMs = config.sessionHours * 3_600_000
  const tokens = createTokens(keys, now, sessionMs)
  const counter = createAuditCounter(store, now)
  const onJudged = (verdict: string) => counters.logins.add(verdict)
  const logins = createLogins({ store, hashing, identities, counter, now, onJudged })
  const browserSessions = createBrowserSessions({ store, logins, identities, counter, now, sessionMs })
  const userPasswords = createUserPasswords({ store, hashing, now })
  const bootstrap =
    config.bootstrap === 'manual'
      ? readBootstrapSecret(join(folder, 'bootstrap.secret'), config.bootstrapSecret)
      : null
  opened.use(
    await keepAudit({
      store,
      counter,
      now,
      log,
      days: config.auditDays,
      isOurs: () => leases.isOurs('keep the audit'),
    }),
  )
  return {
    identities,
    keys,
    tokens,
    browserSessions,
    counter,
    logins,
    userPasswords,
    bootstrap,
    passwords: createPasswords({ store, hashing, identities, logins, now, passwords: userPasswords }),
    cluster: createCluster({ store, passwords: userPasswords, bootstrap, now }),
    roles: createRoles({ store, identities, now }),
    audit: createAudit(store, now),
  }
}

const DAY_MS = 24 * 60 * 60 * 1000
