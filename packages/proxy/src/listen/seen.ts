/** The statistics of an upstream; times in milliseconds. */
export interface Seen {
  errors: number
  lastError: string
  repoints: number
  failedHolds: number
  heldMsTotal: number
  heldMsLast: number
}

/** The statistics of an endpoint that has just been opened. */
export function createSeen(): Seen {
  return { errors: 0, lastError: '', repoints: 0, failedHolds: 0, heldMsTotal: 0, heldMsLast: 0 }
}
