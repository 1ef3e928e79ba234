/** Closed: a long request that begins waits, and its client is not read. One that is under way goes on, and so do short ones. */
export interface LongGate {
  isClosed: boolean
}
