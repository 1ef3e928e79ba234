import { askOwn, backendFor, DEFAULT_GROUP } from './backends.ts'
import type { Router } from './router.ts'

/** Returns true if an engine has confirmed that the client has signed in or need not. */
export function hasSignedIn({ defaultBackend, session: { isKnown } }: Router): boolean {
  return isKnown || defaultBackend?.connection.login.is === 'confirmed'
}

/** Asks an engine if the client must sign in: its error, or null. No other request may be pending. */
export async function askWhetherStranger(router: Router): Promise<Buffer | null> {
  const reply = await askOwn(backendFor(router, DEFAULT_GROUP), ['PING'])
  return reply.toString('latin1', 0, 7) === '-NOAUTH' ? reply : null
}

/**
 * Refuses a long request of an unauthenticated client, as engines do: the proxy would have to keep it until
 * its key arrives, for any number of clients.
 */
export async function judgeSender(router: Router): Promise<null> {
  if ((await askWhetherStranger(router)) === null) router.session.isKnown = true
  else router.lastError = 'ERR Protocol error: unauthenticated bulk length'
  return null
}
