/**
 * While closed, a new long request waits, and its client is not read. Pending long requests and all short
 * ones continue.
 */
export interface LongGate {
  isClosed: boolean
}
