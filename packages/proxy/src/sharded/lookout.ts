import { setTimeout as delay } from 'node:timers/promises'
import type { Address } from '@fairlead/api/of-proxies'
import { isSameAddress, messageOf } from '@fairlead/engine'
import { addressText } from '../listen/address-text.ts'
import { decideFollow, isAmong, leavingTo, ownerIn, type SlotView } from './slot-view.ts'

/** State of a slot after an error that redirects its requests. */
export type Found =
  /** The engine holds the slot, so it did not send the redirect. */
  | { readonly kind: 'held' }
  /** The engine holds the slot, and redirects keys that have left it to that group. */
  | { readonly kind: 'leaving'; readonly group: number }
  /** The slot has moved, and requests for it follow now. */
  | { readonly kind: 'followed' }
  /** The engine confirms that the slot is elsewhere, where the proxy may not follow, or not yet. */
  | { readonly kind: 'elsewhere'; readonly why: string }
  /** The engine could not be asked. */
  | { readonly kind: 'unknown'; readonly why: string }

/**
 * Finds the engine that holds a slot, by asking only engines of this database over the proxy's connections.
 * Replies to clients never decide where requests go.
 */
export interface Lookout extends Disposable {
  /** Finds the slot that the engine at `at` seems to have redirected, and follows it. Never throws. */
  find(slot: number, at: Address): Promise<Found>
}

/** Shortest time between two questions to an engine, however many clients it redirects. */
const LOOK_AGAIN_MS = 100
/** A migration takes much longer; during it each request for a key of the slot is sent twice. */
const LEAVING_FOR_MS = 1_000

interface Look {
  readonly beganMs: number
  readonly view: Promise<SlotView>
  /** Resolves when the next question may begin. */
  readonly over: Promise<unknown>
}

/**
 * `ask`: see askSlots. `slots` is updated when a slot has moved to another group. `move` takes all
 * connections of a group to its new primary.
 */
export function createLookout(deps: {
  readonly ask: (at: Address) => Promise<SlotView>
  readonly primaries: () => readonly Address[]
  /** All addresses that belong to this database. */
  readonly known: () => readonly Address[]
  readonly slots: Uint16Array
  readonly move: (group: number, to: Address) => Promise<unknown>
}): Lookout {
  const { ask, primaries, known, slots, move } = deps
  const { look, recent } = createLooks(ask)
  let isClosed = false

  const leavingGroup = (view: SlotView | null, slot: number): number => {
    const to = view === null ? null : leavingTo(view, slot)
    return to === null ? -1 : primaries().findIndex((primary) => isSameAddress(primary, to))
  }
  const followTo = async (slot: number, owner: Address): Promise<Found> => {
    if (!isAmong(known(), owner) && !isAmong(primaries(), owner))
      return elsewhere(`slot ${slot} is at ${addressText(owner)}, which is no shard of this database`)
    const view = await look(owner)
    if (isClosed) return elsewhere('the endpoint was removed')
    const decided = decideFollow({ slot, owner, view }, { primaries: primaries(), known: known(), slots })
    if (decided.kind === 'no') return elsewhere(decided.why)
    if (decided.kind === 'group') await move(decided.group, owner)
    slots[slot] = decided.group
    return { kind: 'followed' }
  }
  const follow = async (slot: number, owner: Address): Promise<Found> => {
    try {
      return await followTo(slot, owner)
    } catch (cause) {
      return elsewhere(`slot ${slot} is at ${addressText(owner)}: ${messageOf(cause)}`)
    }
  }
  return {
    async find(slot, at) {
      try {
        const wasLeaving = leavingGroup(await recent(at), slot)
        if (wasLeaving >= 0) return { kind: 'leaving', group: wasLeaving }
        const view = await look(at)
        const owner = ownerIn(view, slot)
        if (owner === null) return elsewhere(`slot ${slot} is at no engine`)
        if (!isSameAddress(owner, at)) return await follow(slot, owner)
        const group = leavingGroup(view, slot)
        return group < 0 ? { kind: 'held' } : { kind: 'leaving', group }
      } catch (cause) {
        return { kind: 'unknown', why: `it cannot be asked where slot ${slot} is: ${messageOf(cause)}` }
      }
    },
    [Symbol.dispose]() {
      isClosed = true
    },
  }
}

interface Looks {
  /** Returns an answer that begins after the call; concurrent callers share it. */
  look(at: Address): Promise<SlotView>
  /** Returns the recent answer, if any. */
  recent(at: Address): Promise<SlotView | null>
}

/** Asks each engine for its slots at most once in LOOK_AGAIN_MS. */
function createLooks(ask: (at: Address) => Promise<SlotView>): Looks {
  const looks = new Map<string, Look>()
  return {
    async look(at) {
      const key = addressText(at)
      const nowMs = performance.now()
      let last = looks.get(key)
      while (last !== undefined && last.beganMs < nowMs) {
        await last.over
        const next = looks.get(key)
        if (next === last) break
        last = next
      }
      if (last !== undefined && last.beganMs >= nowMs) return last.view
      const view = ask(at)
      const over = Promise.allSettled([view, delay(LOOK_AGAIN_MS)])
      looks.set(key, { beganMs: performance.now(), view, over })
      return view
    },
    async recent(at) {
      const last = looks.get(addressText(at))
      if (last === undefined || performance.now() - last.beganMs > LEAVING_FOR_MS) return null
      return last.view.catch(() => null)
    },
  }
}

function elsewhere(why: string): Found {
  return { kind: 'elsewhere', why }
}
