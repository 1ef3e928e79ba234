import { ask, backendFor, DEFAULT_GROUP } from './backends.ts'
import type { Router } from './router.ts'

/** Its engine has confirmed that the client has signed in, or need not. */
export function hasSignedIn({ defaultBackend, isKnown }: Router): boolean {
  return isKnown || defaultBackend?.connection.login.is === 'confirmed'
}

/** Asks an engine whether the client has yet to sign in: what it answers then. Null: it has not. Nothing else may be under way. */
export async function askWhetherStranger(router: Router): Promise<Buffer | null> {
  const reply = await ask(backendFor(router, DEFAULT_GROUP), ['PING'])
  return reply.toString('latin1', 0, 7) === '-NOAUTH' ? reply : null
}

/** Engines take no long request of a stranger. Here a place where its key may stand has to be kept of it: any number of strangers may come. */
export async function judgeSender(router: Router): Promise<null> {
  if ((await askWhetherStranger(router)) === null) router.isKnown = true
  else router.lastError = 'ERR Protocol error: unauthenticated bulk length'
  return null
}
