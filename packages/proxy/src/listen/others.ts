import { messageOf } from '@fairlead/engine'

/** Barriers of a switch that several threads do, each with its share of the connections. */
export interface Others {
  /** Resolves when all connections have moved that must move before clients are served. */
  readonly allThere: () => Promise<void>
  /** Resolves when all subscribers have moved: then messages may be published. */
  readonly allListen: () => Promise<void>
}

/** Waits for the other threads. If they fail, moved connections continue, because their clients wait. */
export async function meet(all: Promise<void> | undefined, onError: (what: string) => void): Promise<void> {
  try {
    await all
  } catch (cause) {
    onError(`others could not be waited for: ${messageOf(cause)}`)
  }
}
