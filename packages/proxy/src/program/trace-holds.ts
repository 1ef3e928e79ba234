import { currentPlace, nowMs, recordSince, type TracePlace } from '@fairlead/engine'

/** An order: name, endpoint, and the body with the group of a sharded one. */
interface Order {
  readonly name: string
  readonly id: string
  readonly body: unknown
}

/** Traces the hold of an endpoint's clients as a span. */
export interface HoldTrace {
  /** Carries out an order. */
  around<T>(order: Order, work: () => Promise<T>): Promise<T>
}

/**
 * Records a span from the order to hold until the order that ends the hold, in the trace of the former. A
 * hold that times out has no span.
 */
export function traceHolds(): HoldTrace {
  const held = new Map<string, { readonly place: TracePlace; readonly startMs: number }>()
  return {
    async around(order, work) {
      const place = currentPlace()
      if (place === undefined) return await work()
      const key = keyOf(order)
      if (order.name === 'holdEndpoint') held.set(key, { place, startMs: nowMs() })
      const result = await work()
      const since = held.get(key)
      if (since !== undefined && (order.name === 'switchEndpoint' || order.name === 'releaseEndpoint')) {
        held.delete(key)
        const attributes = { 'fairlead.part': 'proxy', 'fairlead.endpoint': order.id }
        recordSince(since.place, { name: 'clients held', startMs: since.startMs, attributes })
      }
      return result
    },
  }
}

function keyOf({ id, body }: Order): string {
  const slot = typeof body === 'object' && body !== null && 'slot' in body ? String(body.slot) : ''
  return `${id} ${slot}`
}
