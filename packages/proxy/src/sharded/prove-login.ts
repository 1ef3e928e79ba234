import { askOwn, backendFor, DEFAULT_GROUP } from './backends.ts'
import type { Router } from './router.ts'

/** Notes that an engine has confirmed that the client has signed in, or does not have to. */
export function hasSignedIn({ defaultBackend, isKnown }: Router): boolean {
  return isKnown || defaultBackend?.connection.login.is === 'confirmed'
}

/** Asks an engine whether the client still has to sign in. Answers the engine's error then; null: it does not have to. Nothing else may be under way. */
export async function askWhetherStranger(router: Router): Promise<Buffer | null> {
  const reply = await askOwn(backendFor(router, DEFAULT_GROUP), ['PING'])
  return reply.toString('latin1', 0, 7) === '-NOAUTH' ? reply : null
}

/** Engines refuse a long request of a stranger. The proxy refuses it too, because it would have to keep the request until its key comes, for any number of strangers. */
export async function judgeSender(router: Router): Promise<null> {
  if ((await askWhetherStranger(router)) === null) router.isKnown = true
  else router.lastError = 'ERR Protocol error: unauthenticated bulk length'
  return null
}
