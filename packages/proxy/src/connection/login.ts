/** Whether the engine of a connection has confirmed that it may give commands: it has signed in, or needs no login. */
export interface Login {
  /** `refused`: the engine has asked for a login, and none was tried since. */
  is: 'unknown' | 'confirmed' | 'refused'
  /** Replies to requests of its link up to this number prove nothing. */
  after: number
}

/** The login of a link that has just been opened: it is not known yet whether it is signed in. */
export function createLogin(): Login {
  return { is: 'unknown', after: 0 }
}
