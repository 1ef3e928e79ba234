/**
 * Login state of a connection: confirmed if the engine executes its commands, after a login or without one.
 */
export interface Login {
  /** `refused`: the engine required a login, and none was tried since. */
  is: 'unknown' | 'confirmed' | 'refused'
  /** Replies up to this request number of the link prove nothing. */
  after: number
}

/** Login state of a new link: unknown. */
export function createLogin(): Login {
  return { is: 'unknown', after: 0 }
}
