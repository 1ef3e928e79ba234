import type { Selection } from './client-query.ts'

/** The clients of an endpoint, in all threads. Others than those of the asker's user are never found. */
export interface Peers {
  /** Searches a few clients in each turn. Never rejects. */
  find(query: PeerQuery): Promise<Found>
  /** Ends the connections of these clients soon. `why`: for the log. */
  end(ids: readonly number[], why: string): void
}

/** `user`: null if it is not known for certain; then only the asker itself is found. */
export interface PeerQuery {
  readonly user: string | null
  readonly asker: number
  readonly selection: Selection
}

/** The clients that were found: a line of CLIENT LIST for each, oldest first. */
export interface Found {
  readonly clients: readonly FoundClient[]
  /** Set if some could not be asked for. */
  readonly error?: string
}

/** A client that was found. */
export interface FoundClient {
  readonly id: number
  readonly line: string
  /** The number that its engine has for it, if known; else 0. */
  readonly engineId: number
}
