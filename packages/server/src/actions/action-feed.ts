import { setInterval } from 'node:timers'
import type { Store } from '../store/open-store.ts'
import { actionEventsStore } from './action-events-store.ts'

/** Notifies the followers of an action when there are new events. */
export interface ActionFeed {
  watch(actionUid: string): Watch
}

/** Disposed of, it ends. */
export interface Watch extends Disposable {
  /** Resolves when something may be new since the last time, or when `signal` aborts. */
  news(signal: AbortSignal): Promise<void>
}

/** How often it looks whether anything was written: a number in memory. */
const LOOK_EVERY_MS = 25
/** On a store that others write to as well only a query can tell. */
const POLL_EVERY_MS = 1_000
/** Events in one query. More than that at once: the rest comes at the next look. */
const PAGE = 1_000

/**
 * One look at the store for all followers, as long as there is one. It reads what is committed and is not
 * notified: so writers need not know of it, events of another server are seen, too, and nothing is missed.
 */
export function createActionFeed(store: Store): ActionFeed {
  const events = actionEventsStore(store.db)
  const watchers = new Map<string, Set<() => void>>()
  let timer: NodeJS.Timeout | undefined
  let seen: { readonly seq: number; readonly changes: number | undefined; readonly atMs: number } | undefined
  let isLooking = false

  const wake = (actionUid: string) => {
    for (const one of watchers.get(actionUid) ?? []) one()
  }
  const wakeAll = () => {
    for (const actionUid of watchers.keys()) wake(actionUid)
  }

  const look = async () => {
    const [changes, atMs] = [store.changes(), performance.now()]
    if (seen !== undefined && !mayBeNew(seen, changes, atMs)) return
    if (seen === undefined) {
      seen = { seq: await events.lastNumber(), changes, atMs }
      wakeAll() // earlier events may not have been read yet
      return
    }
    const heard = await events.heardAfter(seen.seq, PAGE)
    // A PostgreSQL that failed over to a replica may lack the newest events: their numbers are used again.
    if (heard.length === 0 && store.isShared && (await events.lastNumber()) < seen.seq) {
      seen = undefined
      return
    }
    for (const uid of new Set(heard.map(({ actionUid }) => actionUid))) wake(uid)
    const isAll = heard.length < PAGE
    seen = { seq: heard.at(-1)?.seq ?? seen.seq, changes: isAll ? changes : -1, atMs: isAll ? atMs : 0 }
  }

  const tick = () => {
    if (isLooking) return
    isLooking = true
    look()
      .catch(wakeAll) // the readers get the same error, and report it
      .finally(() => {
        isLooking = false
      })
  }

  return {
    watch(actionUid) {
      const watch = createWatch()
      const of = watchers.get(actionUid) ?? new Set()
      watchers.set(actionUid, of.add(watch.wake))
      timer ??= setInterval(tick, LOOK_EVERY_MS)
      return {
        news: watch.news,
        [Symbol.dispose]() {
          of.delete(watch.wake)
          if (of.size === 0) watchers.delete(actionUid)
          if (watchers.size > 0) return
          clearInterval(timer)
          timer = undefined
          seen = undefined
        },
      }
    },
  }
}

function mayBeNew(
  seen: { readonly changes: number | undefined; readonly atMs: number },
  changes: number | undefined,
  nowMs: number,
): boolean {
  return changes === undefined ? nowMs - seen.atMs >= POLL_EVERY_MS : changes !== seen.changes
}

/** A flag that stays up until it has been seen: a wake with no waiter is not lost. */
function createWatch(): { readonly wake: () => void; readonly news: Watch['news'] } {
  let isUp = false
  let goOn: (() => void) | undefined
  return {
    wake() {
      isUp = true
      goOn?.()
    },
    async news(signal) {
      if (!isUp && !signal.aborted) {
        const { promise, resolve } = Promise.withResolvers<void>()
        goOn = resolve
        signal.addEventListener('abort', goOn, { once: true })
        await promise
        signal.removeEventListener('abort', goOn)
      }
      isUp = false
    },
  }
}
