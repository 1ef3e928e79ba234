/** What a switch waits for that is done in several threads, each with its share of the connections. */
export interface Others {
  /** Whoever has to be there before anybody is served is. */
  readonly allThere: () => Promise<void>
  /** All subscribers are there: from now on something may be published. */
  readonly allListen: () => Promise<void>
}
