import { setInterval } from 'node:timers'
import type { Store } from '../store/open-store.ts'
import { actionEventsStore } from './action-events-store.ts'

/** Tells those who follow an action that there is something new to read. */
export interface ActionFeed {
  watch(actionUid: string): Watch
}

/** Disposed of, it ends. */
export interface Watch extends Disposable {
  /** Resolves when something may be new since the last time, or when `signal` aborts. */
  news(signal: AbortSignal): Promise<void>
}

/** How often it is asked whether anything was written: a number in memory. */
const LOOK_EVERY_MS = 25
/** On a store that others write to as well only a query can tell. */
const POLL_EVERY_MS = 1_000
/** Events in one query. More than that at once: the rest comes at the next look. */
const PAGE = 1_000

/**
 * One look at the store for all who follow, while somebody does. It looks at what is committed and is told nothing: so
 * nobody who writes needs to know of it, what another server wrote is seen too, and nothing is overlooked.
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
      wakeAll() // what came before that may not have been read
      return
    }
    const heard = await events.heardAfter(seen.seq, PAGE)
    for (const uid of new Set(heard.map(({ actionUid }) => actionUid))) wake(uid)
    const isAll = heard.length < PAGE
    seen = { seq: heard.at(-1)?.seq ?? seen.seq, changes: isAll ? changes : -1, atMs: isAll ? atMs : 0 }
  }

  const tick = () => {
    if (isLooking) return
    isLooking = true
    look()
      .catch(wakeAll) // whoever reads meets the trouble, and says so
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

/** A flag that is up until somebody has seen it: a wake that nobody waits for is not lost. */
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
