import { randomBytes } from 'node:crypto'
import { Refusal } from '@fairlead/api'
import type { User } from '../core/user.ts'
import type { Passwords } from './passwords.ts'
import type { Tokens } from './tokens.ts'
import type { UsersStore } from './users-store.ts'

export interface Users {
  /** A token for the user. Throws Refusal invalid_credentials, the same in words and time for every cause. */
  authorize(login: { readonly name: string; readonly password: string }, ttlSeconds: number): Promise<string>
  /** The user whom a token speaks for; undefined when it is invalid or the user is gone. */
  whois(token: string): Promise<User | undefined>
  /**
   * Makes the first user where there is none. Returns the password when it had to be generated, to be shown once.
   */
  ensureAdmin(
    name: string,
    password: string | undefined,
  ): Promise<{ readonly generatedPassword: string | undefined }>
}

export function createUsers(deps: {
  readonly store: UsersStore
  readonly passwords: Passwords
  readonly tokens: Tokens
  readonly now: () => number
}): Users {
  const { store, passwords, tokens, now } = deps
  return {
    async authorize({ name, password }, ttlSeconds) {
      const user = await store.getByName(name)
      const fits = await passwords.verify(password, user?.passwordHash)
      if (user === undefined || !fits) throw new Refusal('invalid_credentials')
      return tokens.issue(user.uid, ttlSeconds)
    },
    async whois(token) {
      const uid = await tokens.verify(token)
      return uid === undefined ? undefined : store.get(uid)
    },
    async ensureAdmin(name, password) {
      if ((await store.count()) > 0) return { generatedPassword: undefined }
      const chosen = password ?? randomBytes(18).toString('base64url')
      const passwordHash = await passwords.hash(chosen)
      await store.insert({ name, role: 'admin', passwordHash }, new Date(now()).toISOString())
      return { generatedPassword: password === undefined ? chosen : undefined }
    },
  }
}
