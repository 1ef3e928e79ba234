/** Statistics of an upstream; times in ms. */
export interface EndpointStats {
  errors: number
  lastError: string
  repoints: number
  failedHolds: number
  heldMsTotal: number
  heldMsLast: number
}

/** Statistics of a new endpoint. */
export function createEndpointStats(): EndpointStats {
  return { errors: 0, lastError: '', repoints: 0, failedHolds: 0, heldMsTotal: 0, heldMsLast: 0 }
}
