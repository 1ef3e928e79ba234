import { Refusal } from '@fairlead/api'
import type { Caller } from '../../core/identity/access.ts'
import type { User } from '../../core/identity/user.ts'
import type { Logins } from '../sessions/logins.ts'

/**
 * The hash that `password` fits. A guess like any other: it counts, and is written down. Throws Refusal
 * invalid_credentials.
 */
export function confirmOld(
  user: User,
  password: string,
  caller: Caller,
  logins: Pick<Logins, 'confirm'>,
): Promise<string> {
  return logins.confirm(user, password, { address: caller.address, via: 'old_password' })
}

/** Refuses a caller who must give the old password: see mayDoWithout. */
export function refuseWithoutOld(): never {
  throw new Refusal(
    'invalid_request',
    'old_password: is missing; a token alone changes no password: send the old one, or sign this request with it (Basic)',
  )
}
