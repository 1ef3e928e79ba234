import { setInterval } from 'node:timers'
import type { Store } from '../../store/open-store.ts'
import { eventsStore, type StoredEvent } from '../stores/events-store.ts'
import { createEventRing } from './event-ring.ts'

/** What happens, as it is written: one reader of the store for all followers of this process. */
export interface EventFeed {
  watch(wants: (event: StoredEvent) => boolean): Watch
}

/** One follower's place. It keeps no events of its own. Disposed of, it ends. */
export interface Watch extends Disposable {
  /** From now on `next` has all that is written; what was written before, the follower reads from the store afterwards. */
  sync(): void
  /** The next event after place `after`; undefined: there is none yet. `behind`: more has come since than is kept. `reset`: the store has to be read again. */
  next(after: number): StoredEvent | 'behind' | 'reset' | undefined
  /** Resolves when something may be new since the last time, or when `signal` aborts. */
  news(signal: AbortSignal): Promise<void>
  wake(): void
}

/** What is kept for followers that are a little behind, for all of them together. */
const KEPT = { events: 4_000, characters: 8_000_000 }
/** How often it looks whether anything was written: a number in memory. */
const LOOK_EVERY_MS = 25
/** On a store that others write to as well only a query can tell: this often while events come, and after a while without one. */
const POLL_MS = { busy: 50, calm: 500, busyFor: 5_000 }
/** Events in one query. More than that at once: the rest comes at the next look. */
const PAGE = 500

interface Seen {
  readonly seq: number
  readonly changes: number | undefined
  readonly atMs: number
  /** When there was something new last. */
  readonly newsMs: number
}

/**
 * One look at the store for all followers, as long as there is one. It reads what is committed and is not notified: so writers need not know of it, events of
 * another server are seen, too, and nothing is missed.
 */
export function createEventFeed(store: Store, most = KEPT): EventFeed {
  const ring = createEventRing(most)
  const followers = new Set<Follower>()
  let timer: NodeJS.Timeout | undefined
  /** Rises when what is kept does not go on from what was kept before. */
  let era = 0
  const reader = createReader(store, {
    news(events) {
      for (const event of events) ring.add(event)
      for (const { wants, wake } of followers) if (events.some(wants)) wake()
    },
    reset() {
      era += 1
      ring.clear()
      for (const { wake } of followers) wake()
    },
  })

  return {
    watch(wants) {
      const flag = createFlag()
      const follower = { wants, wake: flag.wake }
      followers.add(follower)
      timer ??= setInterval(reader.look, LOOK_EVERY_MS)
      let place = { at: ring.first(), era }
      return {
        ...flag,
        sync() {
          place = { at: ring.first(), era }
        },
        next(after) {
          if (place.era !== era) return 'reset'
          for (;;) {
            if (place.at < ring.first()) return 'behind'
            const event = ring.at(place.at)
            if (event === undefined) return undefined
            place.at += 1
            if (event.seq > after && wants(event)) return event
          }
        },
        [Symbol.dispose]() {
          followers.delete(follower)
          if (followers.size > 0) return
          clearInterval(timer)
          timer = undefined
          reader.forget()
          ring.clear()
        },
      }
    },
  }
}

interface Listener {
  /** New events, in order. */
  news(events: readonly StoredEvent[]): void
  /** What comes from now on does not go on from what came before, or the store could not be read. */
  reset(): void
}

/** Looks at the store when it is told to: at all events after the last look. */
function createReader(
  store: Store,
  listener: Listener,
): { readonly look: () => void; readonly forget: () => void } {
  const events = eventsStore(store.db)
  let seen: Seen | undefined
  let isLooking = false
  const look = async () => {
    const [changes, atMs] = [store.changes(), performance.now()]
    if (seen !== undefined && !mayBeNew(seen, changes, atMs)) return
    const last = await events.lastNumber()
    // A PostgreSQL that failed over to a replica may lack the newest events: their numbers are used again.
    if (seen === undefined || last < seen.seq) {
      seen = { seq: last, changes, atMs, newsMs: atMs }
      return listener.reset() // earlier events may not have been read yet
    }
    if (last === seen.seq) {
      seen = { ...seen, changes, atMs }
      return
    }
    const page = await events.between(seen.seq, last, PAGE)
    const isAll = page.upTo === last
    seen = { seq: page.upTo, changes: isAll ? changes : -1, atMs: isAll ? atMs : -POLL_MS.calm, newsMs: atMs }
    listener.news(page.events)
  }
  return {
    look() {
      if (isLooking) return
      isLooking = true
      look()
        .catch(listener.reset) // the followers get the same error from the store, and report it
        .finally(() => {
          isLooking = false
        })
    },
    forget() {
      seen = undefined
    },
  }
}

interface Follower {
  readonly wants: (event: StoredEvent) => boolean
  readonly wake: () => void
}

function mayBeNew(seen: Seen, changes: number | undefined, nowMs: number): boolean {
  if (changes !== undefined) return changes !== seen.changes
  const everyMs = nowMs - seen.newsMs < POLL_MS.busyFor ? POLL_MS.busy : POLL_MS.calm
  return nowMs - seen.atMs >= everyMs
}

/** A flag that stays up until it has been seen: a wake with no waiter is not lost. */
function createFlag(): Pick<Watch, 'wake' | 'news'> {
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
