/**
 * Users as whom engines run where Fairlead is started as root: one for each shard. Systems give these numbers to no account, to no
 * container and to no service, and only root becomes such a user.
 */
export const ENGINE_USERS = { first: 1_900_000_000, count: 65_536 } as const

export function isEngineUser(uid: number): boolean {
  return uid >= ENGINE_USERS.first && uid < ENGINE_USERS.first + ENGINE_USERS.count
}

/** Is a process of this user one of ours: of our own user or, if that is root, an engine? */
export function isOurUser(uid: number): boolean {
  const self = process.geteuid?.()
  return uid === self || (self === 0 && isEngineUser(uid))
}
