/**
 * Users of engines if Fairlead is started as root, one per shard. Systems give these numbers to no account,
 * container or service, and only root can become such a user.
 */
export const ENGINE_USERS = { first: 1_900_000_000, count: 65_536 } as const

/** True if this system user is one of Fairlead's engines. */
export function isEngineUser(uid: number): boolean {
  return uid >= ENGINE_USERS.first && uid < ENGINE_USERS.first + ENGINE_USERS.count
}

/** Users of proxies, one per home. They follow those of engines, so that no engine is a proxy. */
export const PROXY_USERS = { first: 1_900_065_536, count: 65_536 } as const

/** True if this system user is one of Fairlead's proxies. */
export function isProxyUser(uid: number): boolean {
  return uid >= PROXY_USERS.first && uid < PROXY_USERS.first + PROXY_USERS.count
}

/** True if this process is a proxy that gave up root. It may not read files of engines, other users. */
export function isProxyOfRoot(): boolean {
  return isProxyUser(process.geteuid?.() ?? 0)
}

/** Users of servers, one per home, after those of proxies. */
export const SERVER_USERS = { first: 1_900_131_072, count: 65_536 } as const

/** True if this system user is one of Fairlead's servers. */
export function isServerUser(uid: number): boolean {
  return uid >= SERVER_USERS.first && uid < SERVER_USERS.first + SERVER_USERS.count
}

/** True if this process is a server that gave up root. */
export function isServerOfRoot(): boolean {
  return isServerUser(process.geteuid?.() ?? 0)
}

/** True for users of Fairlead: ours or, if root has started Fairlead, root, engines or the proxy. */
export function isOurUser(uid: number): boolean {
  const self = process.geteuid?.()
  if (self === 0) return uid === 0 || isEngineUser(uid) || isProxyUser(uid)
  // A proxy connects only to engines, a server also to endpoints.
  if (isProxyOfRoot()) return uid === 0 || isEngineUser(uid)
  if (isServerOfRoot()) return uid === 0 || isEngineUser(uid) || isProxyUser(uid)
  return uid === self
}
