import { messageOf } from '@fairlead/engine'
import type { Logger } from 'pino'

/** Port for reading orders. */
export interface OrdersOnRecord {
  /** Returns databases with orders after number `seq`, in the order of those numbers. */
  orderedAfter(seq: number): Promise<readonly { readonly uid: number; readonly seq: number }[]>
}

const LOOK_EVERY_MS = 500
/** Interval for checking all databases, in case an order was missed. */
const ALL_EVERY_MS = 30_000

/** Nudges databases with new orders from other servers, and periodically all, until disposed of. */
export async function followOrders(
  { orderedAfter }: OrdersOnRecord,
  {
    nudge,
    nudgeAll,
  }: { readonly nudge: (databaseUid: number) => void; readonly nudgeAll: () => Promise<void> },
  log: Pick<Logger, 'warn'>,
): Promise<AsyncDisposable> {
  let seen = (await orderedAfter(0)).at(-1)?.seq ?? 0
  let looking: Promise<void> | undefined
  let allAt = performance.now()
  const look = async () => {
    for (const { uid, seq } of await orderedAfter(seen)) {
      seen = seq
      nudge(uid)
    }
    if (performance.now() - allAt < ALL_EVERY_MS) return
    allAt = performance.now()
    await nudgeAll()
  }
  const timer = setInterval(() => {
    looking ??= look()
      .catch((cause: unknown) => log.warn({ why: messageOf(cause) }, 'new orders of users could not be read'))
      .finally(() => {
        looking = undefined
      })
  }, LOOK_EVERY_MS)
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await looking
    },
  }
}
