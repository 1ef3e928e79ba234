/** Whether the engine of a connection has confirmed that it may give commands: it has signed in, or needs no login. */
export interface Login {
  /** `refused`: the engine has asked for a login, and none was tried since. */
  is: 'unknown' | 'confirmed' | 'refused'
  /** Replies to requests of its link up to this number prove nothing. */
  after: number
}

/** Of a link that has just been opened: whether it is signed in is not known yet. */
export function createLogin(): Login {
  return { is: 'unknown', after: 0 }
}
