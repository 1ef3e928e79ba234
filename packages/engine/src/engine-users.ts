/**
 * Users that engines run as if Fairlead is started as root: one for each shard. Systems give these numbers to
 * no account, container or service, and only root can become such a user.
 */
export const ENGINE_USERS = { first: 1_900_000_000, count: 65_536 } as const

/** Whether this operating system's user is one of those that engines of Fairlead run as. */
export function isEngineUser(uid: number): boolean {
  return uid >= ENGINE_USERS.first && uid < ENGINE_USERS.first + ENGINE_USERS.count
}

/** The same for proxies: one for each home. Beyond those of engines, so that no engine is a proxy. */
export const PROXY_USERS = { first: 1_900_065_536, count: 65_536 } as const

/** Whether this operating system's user is one of those that proxies of Fairlead run as. */
export function isProxyUser(uid: number): boolean {
  return uid >= PROXY_USERS.first && uid < PROXY_USERS.first + PROXY_USERS.count
}

/** Is this process a proxy that gave up root? It may not look at the files of engines, which are other users. */
export function isProxyOfRoot(): boolean {
  return isProxyUser(process.geteuid?.() ?? 0)
}

/** The same for servers: one for each home, beyond those of proxies. */
export const SERVER_USERS = { first: 1_900_131_072, count: 65_536 } as const

/** Whether this operating system's user is one of those that servers of Fairlead run as. */
export function isServerUser(uid: number): boolean {
  return uid >= SERVER_USERS.first && uid < SERVER_USERS.first + SERVER_USERS.count
}

/** Is this process a server that gave up root? */
export function isServerOfRoot(): boolean {
  return isServerUser(process.geteuid?.() ?? 0)
}

/** Does a process of this user belong to Fairlead: to this user or, if root has started Fairlead, to root, an engine or the proxy? */
export function isOurUser(uid: number): boolean {
  const self = process.geteuid?.()
  if (self === 0) return uid === 0 || isEngineUser(uid) || isProxyUser(uid)
  // A proxy speaks to engines only, a server also to endpoints.
  if (isProxyOfRoot()) return uid === 0 || isEngineUser(uid)
  if (isServerOfRoot()) return uid === 0 || isEngineUser(uid) || isProxyUser(uid)
  return uid === self
}
