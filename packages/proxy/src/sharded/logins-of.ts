import type { Upstream } from '../endpoint/upstream.ts'

type Login = readonly Buffer[] | null

/** So many of the database's own user, which may ask what we ask (its password may have changed), and so many of others. */
const MOST_OF_EACH = 3

/**
 * As whom an engine may be asked, the likeliest first: as clients that are signed in with it. The proxy has no password of its own. Null,
 * without a login, where none of them is.
 */
export function loginsOf(upstreams: readonly Pick<Upstream, 'connections'>[]): readonly Login[] {
  const own = new Map<string, Login>()
  const others = new Map<string, Login>()
  for (const { connections } of upstreams)
    for (const { state } of connections) {
      const { login } = state
      if (login === null) continue
      const alike = login.length === 1 || String(login[0]) === 'default' ? own : others
      if (alike.size < MOST_OF_EACH) alike.set(login.map((word) => word.toString('latin1')).join(' '), login)
    }
  return own.size + others.size === 0 ? [null] : [...own.values(), ...others.values()]
}
