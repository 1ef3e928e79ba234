import { setTimeout as delay } from 'node:timers/promises'
import type { Address, Layout } from './layout.ts'
import { createMovedHints, type Trouble } from './moved-hints.ts'

/** Finds the present primaries for all connections. */
export interface PrimaryRoute {
  /** The primary that was named last for the slot. Throws if none was ever named. */
  current(slot: number): Address
  /** Calls `onAddress` once the API has been asked again. All waiters share one lookup. */
  ask(slot: number, trouble: Trouble, onAddress: (address: Address) => void): void
}

/**
 * A handover takes milliseconds, so the API is asked often in the first half second, and less often later:
 * the ledger must not make an outage worse.
 */
const ASK_AGAIN_MS = 2
const PATIENCE_MS = 500
const ASK_AGAIN_LATER_MS = 20
/** After this time without a question, the next one belongs to a new failure. */
const CALM_MS = 200
const CONNECTS_AT_ONCE = 4

interface Asker {
  readonly slot: number
  readonly trouble: Trouble
  readonly onAddress: (address: Address) => void
}

/**
 * `first` is what the API says now. A lookup that fails, or names no primary for a slot, goes to `onFailure`,
 * and the address named last is returned again: an engine can take writes while the API is away. An address
 * from MOVED is only returned, and `onHint` called, when the API has not confirmed it for `apiMayLagMs`.
 */
export function createPrimaryRoute(options: {
  readonly first: Layout
  readonly apiMayLagMs: number
  readonly lookUp: () => Promise<Layout>
  readonly onFailure: (cause: unknown) => void
  readonly onHint: () => void
}): PrimaryRoute {
  const named = new Map<number, Address>()
  const hints = createMovedHints(options.apiMayLagMs)
  let waiting: Asker[] = []
  let asking = false
  const pace = createPace()

  return {
    current,
    ask(slot, trouble, onAddress) {
      hints.heard(slot, trouble, performance.now())
      waiting.push({ slot, trouble, onAddress })
      if (!asking) void round()
    },
  }

  function current(slot: number): Address {
    const address = named.get(slot) ?? options.first.primaryOf(slot)
    if (!address) throw new Error(`the API names no primary of slot ${slot}`)
    return address
  }

  /** Never rejects: a failed lookup is counted, and the callbacks are the connections' own. */
  async function round(): Promise<void> {
    asking = true
    await pace.wait()
    const layout = await lookUp()
    pace.asked()
    const served = waiting
    waiting = []
    asking = false
    inTurn(served, layout)
  }

  async function lookUp(): Promise<Layout | null> {
    try {
      return await options.lookUp()
    } catch (cause) {
      options.onFailure(cause)
      return null
    }
  }

  /** A few at a time: fifty connects at once would delay the first write by 10 ms. */
  function inTurn(served: readonly Asker[], layout: Layout | null): void {
    for (const asker of served.slice(0, CONNECTS_AT_ONCE)) asker.onAddress(choose(asker, layout))
    if (served.length > CONNECTS_AT_ONCE) setImmediate(inTurn, served.slice(CONNECTS_AT_ONCE), layout)
  }

  function choose({ slot, trouble }: Asker, layout: Layout | null): Address {
    const primary = layout?.primaryOf(slot, trouble.at) ?? null
    if (primary) named.set(slot, primary)
    else if (layout) options.onFailure(new Error(`the API names no primary of slot ${slot}`))
    const { address, isHint } = hints.settle(slot, primary, performance.now())
    if (isHint) options.onHint()
    return address ?? current(slot)
  }
}

interface Pace {
  /** Resolves when the API may be asked the next question. */
  wait(): Promise<void>
  /** The API has just answered, or failed to. */
  asked(): void
}

/** How often the API is asked: every 2 ms in the first half second of a failure, every 20 ms later. */
function createPace(): Pace {
  let troubleSinceMs = Number.NEGATIVE_INFINITY
  let askedMs = Number.NEGATIVE_INFINITY
  return {
    async wait() {
      const nowMs = performance.now()
      if (nowMs - askedMs > CALM_MS) troubleSinceMs = nowMs
      const apartMs = nowMs - troubleSinceMs < PATIENCE_MS ? ASK_AGAIN_MS : ASK_AGAIN_LATER_MS
      const waitMs = askedMs + apartMs - nowMs
      if (waitMs > 0) await delay(waitMs)
    },
    asked() {
      askedMs = performance.now()
    },
  }
}
