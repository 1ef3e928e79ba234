/** True: a new long request waits, and its client is not read. Long requests that are under way go on, and so do short ones. */
export interface LongGate {
  isClosed: boolean
}
