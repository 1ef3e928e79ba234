import { isLimitable, operatorPrincipal, type Principal } from '../../core/identity/access.ts'
import { nobody, type Role, type User } from '../../core/identity/user.ts'
import type { Store } from '../../store/open-store.ts'
import { loginLanesStore } from '../stores/login-lanes-store.ts'
import { passwordsStore } from '../stores/passwords-store.ts'
import { revokedTokensStore } from '../stores/revoked-tokens-store.ts'
import { rolesStore } from '../stores/roles-store.ts'
import { usersStore } from '../stores/users-store.ts'
import { createExpiringCache } from './expiring-cache.ts'

/** The facts about a user that each request needs. */
export interface Identity {
  readonly user: User
  readonly principal: Principal
  readonly newestPasswordMs: number
  readonly revokedTokens: ReadonlySet<string>
  /** Each source that is locked out of the account, and the end of its lock in Unix milliseconds. */
  readonly locks: ReadonlyMap<string, number>
}

/** Remembers for a short time the facts that requests need about users. */
export interface Identities {
  /** Undefined: the user does not exist. */
  get(userUid: number): Promise<Identity | undefined>
  /** Returns what is remembered, without waiting; undefined if nothing is. */
  recall(userUid: number): Identity | undefined
  /** Call it after a change of the user is written. */
  forget(userUid: number): void
}

/** Changes by another server are seen here after this time; changes by this server, immediately. */
const REMEMBERED_MS = 1_000
const MOST_REMEMBERED = 10_000

/** Reads from `store` if nothing is remembered; `now` is Unix milliseconds. */
export function createIdentities(store: Store, now: () => number): Identities {
  const memory = createExpiringCache<number, Identity | undefined>({
    forMs: REMEMBERED_MS,
    most: MOST_REMEMBERED,
    now,
  })
  return {
    get: (uid) =>
      memory.get(uid, async () =>
        uid === operatorPrincipal.uid ? operatorIdentity : readIdentity(uid, store),
      ),
    recall: memory.recall,
    forget: memory.forget,
  }
}

/** The operator of the machine has no password. Its tokens are few and short-lived. */
const operatorIdentity: Identity = {
  user: { ...nobody, uid: operatorPrincipal.uid, name: operatorPrincipal.name },
  principal: operatorPrincipal,
  newestPasswordMs: 0,
  revokedTokens: new Set(),
  locks: new Map(),
}

async function readIdentity(uid: number, { db }: Store): Promise<Identity | undefined> {
  const user = await usersStore(db).get(uid)
  if (user === undefined) return undefined
  const passwords = await passwordsStore(db).listOf(uid)
  const grants = (await rolesStore(db).listOf(uid)).map(toGrant)
  return {
    user,
    principal: { uid, name: user.name, grants },
    newestPasswordMs: Math.max(0, ...passwords.map(({ issuedMs }) => issuedMs)),
    revokedTokens: await revokedTokensStore(db).listOf(uid),
    locks: await loginLanesStore(db).locksOf(uid),
  }
}

function toGrant({ management, databases }: Role): Principal['grants'][number] {
  return { management, databases: databases.length > 0 && isLimitable(management) ? databases : null }
}
