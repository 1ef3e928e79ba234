import type { Connection } from '../connection/connection.ts'

type Login = readonly Buffer[] | null

/** How many logins of the database's own user (its password may have changed), and how many of others. */
const MOST_OF_EACH = 3

/**
 * With which logins an engine may be asked, the likeliest first: as clients that are signed in with it, those that came last before others: a password may
 * have changed since. The proxy has no password of its own. Null, without a login, where a client needs none, and where none has signed in.
 */
export function loginsOf(
  upstreams: readonly { readonly connections: Iterable<Connection> }[],
): readonly Login[] {
  const own = new Map<string, Login>()
  const others = new Map<string, Login>()
  let isOpen = false
  for (const { connections } of upstreams)
    for (const { state, login: proven } of [...connections].toReversed()) {
      const { login } = state
      if (login === null) {
        isOpen ||= proven.is === 'confirmed'
        continue
      }
      const alike = login.length === 1 || String(login[0]) === 'default' ? own : others
      if (alike.size < MOST_OF_EACH) alike.set(login.map((word) => word.toString('latin1')).join(' '), login)
    }
  const logins = [...own.values(), ...others.values()]
  return isOpen || logins.length === 0 ? [...logins, null] : logins
}
