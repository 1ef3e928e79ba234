import { setTimeout as delay } from 'node:timers/promises'
import type { Address } from '@fairlead/api'
import { isSameAddress, messageOf } from '@fairlead/engine'
import { addressText } from '../listen/address-text.ts'
import { decideFollow, isAmong, leavingTo, ownerIn, type SlotView } from './slot-view.ts'

/** What became of a slot that an engine is said to have sent a request away from. */
export type Found =
  /** The engine holds it: no engine says so of its own slot. */
  | { readonly kind: 'held' }
  /** It holds the slot, and sends those of its keys that have left it to that group already. */
  | { readonly kind: 'leaving'; readonly group: number }
  /** It has moved, and requests for it go there now. */
  | { readonly kind: 'followed' }
  /** The engine itself says that it is elsewhere, where it cannot be followed, or not yet. */
  | { readonly kind: 'elsewhere'; readonly why: string }
  /** The engine could not be asked. */
  | { readonly kind: 'unknown'; readonly why: string }

/**
 * Finds out where a slot is, from engines of this database alone, and over connections of our own. Nothing else says where requests go: not
 * what a client is answered.
 */
export interface Lookout extends Disposable {
  /** Where `slot` is that the engine at `at` is said to have sent away; follows it there. Never throws. */
  find(slot: number, at: Address): Promise<Found>
}

/** An engine is asked no more often, however many clients are sent away by it. */
const LOOK_AGAIN_MS = 100
/** A slot on its way stays so for much longer; each of its keys is asked for twice meanwhile. */
const LEAVING_FOR_MS = 1_000

interface Look {
  readonly beganMs: number
  readonly view: Promise<SlotView>
  /** The next may begin. */
  readonly over: Promise<unknown>
}

/**
 * `ask`: see askSlots. `slots` is changed where a slot has moved to another group; `move` takes all of a group to the engine that has
 * its role.
 */
export function createLookout(deps: {
  readonly ask: (at: Address) => Promise<SlotView>
  readonly primaries: () => readonly Address[]
  /** All that were given for this database. */
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
  /** What the engine says from now on: clients that come meanwhile hear the same. */
  look(at: Address): Promise<SlotView>
  /** As it was not long ago, if that is known. */
  recent(at: Address): Promise<SlotView | null>
}

/** Asks each engine for its slots, one time in LOOK_AGAIN_MS at most. */
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
