import { readFileSync } from 'node:fs'
import { createStrangers, type Strangers } from './strangers.ts'

/** How many connections this process (or a thread of it) may have at a time, and how many it has. */
export interface Admission {
  open: number
  /** Links that are ready at engines which are about to have the role, in addition to those in use: each takes a file. */
  prepared: number
  readonly most: number
  /** The clients of each endpoint. */
  readonly shares: Set<Share>
  readonly strangers: Strangers
}

/** The share of one endpoint's clients in all connections. */
export interface Share extends Disposable {
  readonly open: number
  /**
   * Takes this many places for a client; false: there is no room. Clients that have
   * not signed in make room for new ones.
   */
  take(places: number): boolean
  leave(places: number): void
}

/** Files for orders, listening ports, and the second link that a connection has while it moves. */
const RESERVED_FILES = 300
/** This part of all places is divided among the endpoints; the rest goes to the endpoint that asks first. */
const GUARANTEED = 0.5
/** The default of engines (`maxclients`). */
const MOST_OF_ONE = 10_000

/**
 * Each connection takes two files, its client's and its link's. A process that has used up its files could not even get
 * the order to hand over, so surplus connections are refused before that.
 */
export function createAdmission(most = mostByFiles(), loginWithinMs?: number): Admission {
  const strangers = createStrangers(loginWithinMs)
  return { open: 0, prepared: 0, most, shares: new Set(), strangers }
}

function mostByFiles(): number {
  const files = Number(
    /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? 1_024,
  )
  return Math.max(16, Math.floor((files - RESERVED_FILES) / 2))
}

/** The share of an endpoint that is being opened: an endpoint may not take the places that are guaranteed to others. */
export function createShare(admission: Admission, endpoint: string): Share {
  let open = 0
  const guaranteed = () => Math.floor((admission.most * GUARANTEED) / admission.shares.size)
  const hasRoom = (places: number): boolean => {
    if (admission.open + places > admission.most || open + places > MOST_OF_ONE) return false
    const own = guaranteed()
    if (open + places <= own) return true
    let kept = 0
    for (const each of admission.shares) if (each !== share) kept += Math.max(0, own - each.open)
    return admission.open + places + kept <= admission.most
  }
  /** Clients of other endpoints make room only if there is no place at all. */
  const makeRoom = (places: number) =>
    admission.strangers.makeRoom(endpoint) ||
    (admission.open + places > admission.most && admission.strangers.makeRoom(null))
  const share: Share = {
    get open() {
      return open
    },
    take(places) {
      for (let n = 0; n < places && !hasRoom(places); n += 1) if (!makeRoom(places)) return false
      if (!hasRoom(places)) return false
      open += places
      admission.open += places
      return true
    },
    leave(places) {
      open -= places
      admission.open -= places
    },
    [Symbol.dispose]: () => void admission.shares.delete(share),
  }
  admission.shares.add(share)
  return share
}

/** Whether one more link may be prepared: half of the free files are for new clients. */
export function mayPrepare({ open, prepared, most }: Admission): boolean {
  return prepared < most - open
}
