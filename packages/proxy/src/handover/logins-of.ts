import type { Connection } from '../connection/connection.ts'

type Login = readonly Buffer[] | null

/** Maximum number of logins to try: of the default user (the password may have changed), and of others. */
const MOST_OF_EACH = 3

/**
 * Returns logins for asking an engine, most likely first. The proxy has no password, so it uses those of
 * signed-in clients, newest first, because a password may have changed. Null means no login.
 */
export function loginsOf(
  upstreams: readonly { readonly connections: Iterable<Connection> }[],
): readonly Login[] {
  const own = new Map<string, Login>()
  const others = new Map<string, Login>()
  let isOpen = false
  for (const { connections } of upstreams)
    for (const {
      login: proven,
      session: { state },
    } of [...connections].toReversed()) {
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
