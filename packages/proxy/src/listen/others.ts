import { messageOf } from '@fairlead/engine'

/** What a switch waits for that is done in several threads, each with its share of the connections. */
export interface Others {
  /** All connections that must be there before clients are served are there. */
  readonly allThere: () => Promise<void>
  /** All subscribers are there: from now on something may be published. */
  readonly allListen: () => Promise<void>
}

/** Waits for them. Those that have moved go on where they are, whatever becomes of others: their clients wait for that. */
export async function meet(all: Promise<void> | undefined, onError: (what: string) => void): Promise<void> {
  try {
    await all
  } catch (cause) {
    onError(`others could not be waited for: ${messageOf(cause)}`)
  }
}
