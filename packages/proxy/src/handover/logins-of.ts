import type { Connection } from '../connection/connection.ts'

type Login = readonly Buffer[] | null

/** The most logins to try of the database's own user (its password may have changed), and of others. */
const MOST_OF_EACH = 3

/**
 * The logins with which an engine may be asked, the likeliest first: the proxy has no password of its own, so it uses
 * those of clients that are signed in, the newest client's first, because a password may have changed since. Null
 * stands for no login: where a client needs none, and where no client has signed in.
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
