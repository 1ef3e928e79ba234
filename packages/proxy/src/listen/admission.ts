import { readFileSync } from 'node:fs'
import { createStrangers, type Strangers } from './strangers.ts'

/** Limit and number of connections of this process (or thread). */
export interface Admission {
  open: number
  /** Links prepared at engines that will get the role soon, besides those in use: each takes a file. */
  prepared: number
  readonly most: number
  /** One share per endpoint. */
  readonly shares: Set<Share>
  readonly strangers: Strangers
}

/** Places of one endpoint's clients. */
export interface Share extends Disposable {
  readonly open: number
  /** Takes places for a client; false if there is no room. Clients without login are closed to make room. */
  take(places: number): boolean
  leave(places: number): void
}

/** Files for orders, listening ports, and a moving connection's second link. */
const RESERVED_FILES = 300
/** Part of all places that is divided among the endpoints; the rest is first come, first served. */
const GUARANTEED = 0.5
/** The engines' default (`maxclients`). */
const MOST_OF_ONE = 10_000

/**
 * Creates the limit from the process's file limit: a connection takes two files (client and link). A process
 * without free files could not receive the order to hand over, so surplus connections are refused before.
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

/** Creates the share of a new endpoint. It may not take places guaranteed to others. */
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
  /** Clients of other endpoints are closed only if no place is left at all. */
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

/** True if another link may be prepared: half of the free files are for new clients. */
export function mayPrepare({ open, prepared, most }: Admission): boolean {
  return prepared < most - open
}
