import { randomBytes } from 'node:crypto'
import { Refusal } from '@fairlead/api'
import { type Actor, actorOf, type Caller } from '../../core/identity/access.ts'
import { fairlead } from '../../core/identity/audit-record.ts'
import type { Settings } from '../../core/identity/settings.ts'
import { nameFault } from '../../core/identity/user.ts'
import type { Store } from '../../store/open-store.ts'
import type { UserPasswords } from '../passwords/user-passwords.ts'
import { auditStore } from '../stores/audit-store.ts'
import { rolesStore } from '../stores/roles-store.ts'
import { settingsStore } from '../stores/settings-store.ts'
import { usersStore } from '../stores/users-store.ts'
import type { BootstrapSecret } from './bootstrap-secret.ts'

export interface FirstUser {
  readonly name: string
  readonly password: string
}

/** A change of the settings: omitted sections and fields keep their values. */
export type SettingsChange = {
  readonly [Name in keyof Omit<Settings, 'name' | 'createdAt'>]?: Partial<Settings[Name]>
}

export type Cluster = ReturnType<typeof createCluster>

/**
 * Creates the cluster and changes its settings. `passwords` checks and hashes the first user's; `now` is Unix
 * milliseconds.
 */
export function createCluster(deps: {
  readonly store: Store
  readonly passwords: UserPasswords
  /** A request creates the cluster with this secret; null: the cluster creates itself. */
  readonly bootstrap: BootstrapSecret | null
  readonly now: () => number
}) {
  const { store, passwords, bootstrap } = deps
  const now = () => new Date(deps.now()).toISOString()
  const settings = () => settingsStore(store.db).get()

  const create = async (name: string, admin: FirstUser, by: Actor): Promise<void> => {
    if ((await settings()).createdAt !== null) throw new Refusal('cluster_already_exists')
    const fault = nameFault(admin.name)
    if (fault !== undefined) throw new Refusal('invalid_request', `credentials.username: ${fault}`)
    const hashed = await passwords.prepare(admin.password, [admin.name])
    await store.transaction(async (db) => {
      // Of two simultaneous requests, one must fail.
      if ((await settingsStore(db).get()).createdAt !== null) throw new Refusal('cluster_already_exists')
      await settingsStore(db).set({ name, createdAt: now() })
      const roles = await rolesStore(db).listBuiltIn()
      const roleUids = roles.filter(({ management }) => management === 'admin').map(({ uid }) => uid)
      const email = admin.name.includes('@') ? admin.name : null
      const user = await usersStore(db).insert({ name: admin.name, email, roleUids }, now())
      await passwords.replace(db, user.uid, hashed)
      const details = { cluster: name, user: user.uid, name: admin.name }
      await auditStore(db).append({ type: 'cluster_created', by, details }, now())
    })
  }

  return {
    settings,

    /**
     * Creates the cluster with its first user, once; `secret` must be right. Throws Refusal
     * cluster_already_exists, invalid_request, forbidden, password_not_complex, too_many_requests.
     */
    async create(name: string, admin: FirstUser, by: Actor, secret: string | undefined): Promise<void> {
      if (bootstrap === null) throw new Refusal('cluster_already_exists', 'this cluster creates itself')
      if ((await settings()).createdAt !== null) throw new Refusal('cluster_already_exists')
      bootstrap.check(secret)
      await create(name, admin, by)
      await bootstrap.forget()
    },

    /** Changes the given fields only. */
    async change(change: SettingsChange, caller: Caller): Promise<Settings> {
      return store.transaction(async (db) => {
        const before = await settingsStore(db).get()
        const after = {
          ...change,
          ...(change.passwordRules && {
            passwordRules: { ...before.passwordRules, ...change.passwordRules },
          }),
          ...(change.lockout && { lockout: { ...before.lockout, ...change.lockout } }),
        }
        await settingsStore(db).set(after as Partial<Settings>) // these are whole sections, merged above
        const details = { settings: JSON.stringify(change) }
        await auditStore(db).append({ type: 'cluster_updated', by: actorOf(caller), details }, now())
        return settingsStore(db).get()
      })
    },

    /**
     * Creates the cluster if there is none and no operator has to create it. Returns the password if it was
     * generated; it is shown once.
     */
    async ensure(
      name: string,
      password: string | undefined,
    ): Promise<{ readonly generatedPassword: string | undefined }> {
      const { name: clusterName, createdAt } = await settings()
      if (bootstrap !== null || createdAt !== null) return { generatedPassword: undefined }
      const chosen = password ?? randomBytes(18).toString('base64url')
      await create(clusterName, { name, password: chosen }, fairlead)
      return { generatedPassword: password === undefined ? chosen : undefined }
    },
  }
}
