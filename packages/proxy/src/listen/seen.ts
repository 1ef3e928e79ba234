/** Statistics of an upstream; times in ms. */
export interface Seen {
  errors: number
  lastError: string
  repoints: number
  failedHolds: number
  heldMsTotal: number
  heldMsLast: number
}

/** Statistics of a new endpoint. */
export function createSeen(): Seen {
  return { errors: 0, lastError: '', repoints: 0, failedHolds: 0, heldMsTotal: 0, heldMsLast: 0 }
}
