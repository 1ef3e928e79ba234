import { setTimeout as delay } from 'node:timers/promises'
import type { Address } from './lookup-primary.ts'

/** The shared way of all connections to the primary of this moment. */
export interface PrimaryRoute {
  /** What the API named last. */
  current(): Address
  /** Calls `onAddress` once the API has been asked again. One lookup serves everybody who waits. */
  ask(onAddress: (address: Address) => void): void
}

/** A handover takes milliseconds, so the first half second asks often; an outage must not be worsened by us. */
const ASK_AGAIN_MS = 2
const PATIENCE_MS = 500
const ASK_AGAIN_LATER_MS = 20
/** So long without a question and the next one is a new trouble. */
const CALM_MS = 200
const CONNECTS_AT_ONCE = 4

/**
 * `first` is where the primary is now. A lookup that fails goes to `onFailure`, and the address named last is handed
 * out again: an engine can take writes while the API is away.
 */
export function createPrimaryRoute(options: {
  readonly first: Address
  readonly lookUp: () => Promise<Address>
  readonly onFailure: (cause: unknown) => void
}): PrimaryRoute {
  let current = options.first
  let waiting: ((address: Address) => void)[] = []
  let asking = false
  let troubleSinceMs = Number.NEGATIVE_INFINITY
  let askedMs = Number.NEGATIVE_INFINITY

  return {
    current: () => current,
    ask(onAddress) {
      waiting.push(onAddress)
      if (!asking) void round()
    },
  }

  /** Never rejects: a failed lookup is counted, and the callbacks are the connections' own. */
  async function round(): Promise<void> {
    asking = true
    await pause()
    try {
      current = await options.lookUp()
    } catch (cause) {
      options.onFailure(cause)
    }
    askedMs = performance.now()
    const served = waiting
    waiting = []
    asking = false
    inTurn(served, current)
  }

  /** A few at a time: fifty connects in one go would keep the first of them from its first write for 10 ms. */
  function inTurn(served: readonly ((address: Address) => void)[], address: Address): void {
    for (const onAddress of served.slice(0, CONNECTS_AT_ONCE)) onAddress(address)
    if (served.length > CONNECTS_AT_ONCE) setImmediate(inTurn, served.slice(CONNECTS_AT_ONCE), address)
  }

  async function pause(): Promise<void> {
    const nowMs = performance.now()
    if (nowMs - askedMs > CALM_MS) troubleSinceMs = nowMs
    const apartMs = nowMs - troubleSinceMs < PATIENCE_MS ? ASK_AGAIN_MS : ASK_AGAIN_LATER_MS
    const waitMs = askedMs + apartMs - nowMs
    if (waitMs > 0) await delay(waitMs)
  }
}
