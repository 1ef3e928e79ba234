import { setInterval } from 'node:timers'
import type { Store } from '../../store/open-store.ts'
import { eventsStore, type StoredEvent } from '../stores/events-store.ts'

/** New events, from one reader of the store for all followers. */
export interface EventFeed {
  watch(wants: (event: StoredEvent) => boolean): Watch
}

/** A follower's position, without copies of events. */
export interface Watch extends Disposable {
  /** Makes `next` return later events; the follower then reads earlier ones from the store. */
  sync(): void
  /**
   * The event after `after`; undefined: none yet. `behind`: more came than are kept. `reset`: read the store
   * again.
   */
  next(after: number): StoredEvent | 'behind' | 'reset' | undefined
  /** Resolves when there may be news, or when `signal` aborts. */
  news(signal: AbortSignal): Promise<void>
  wake(): void
}

/** Events kept for all slow followers together. */
const KEPT = { events: 4_000, characters: 8_000_000 }
/** Interval of checks for writes: compares a number in memory. */
const LOOK_EVERY_MS = 25
/** Intervals of queries on a shared store: while events come, and after `busyFor` without one. */
const POLL_MS = { busy: 50, calm: 500, busyFor: 5_000 }
/** Events per query. The rest is read in the next pass. */
const PAGE = 500

interface Seen {
  readonly seq: number
  readonly changes: number | undefined
  readonly atMs: number
  /** Time of the last new event. */
  readonly newsMs: number
}

/**
 * Reads the store for all followers while there are any. It polls committed events: writers need no
 * notification code, events of other servers are included, and none is missed.
 */
export function createEventFeed(store: Store, most = KEPT): EventFeed {
  const ring = createEventRing(most)
  const followers = new Set<Follower>()
  let timer: NodeJS.Timeout | undefined
  /** Rises on a gap between kept and earlier events. */
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
  /** The next events follow a gap, or the store could not be read. */
  reset(): void
}

/** Reads all events since the last `look`. */
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
    // After a failover, PostgreSQL may lack the newest events: their numbers are used again.
    if (seen === undefined || last < seen.seq) {
      seen = { seq: last, changes, atMs, newsMs: atMs }
      return listener.reset() // earlier events may be unread
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
        .catch(listener.reset) // followers get the same error from the store and report it
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

/** A flag that stays set until seen, so that no wake is lost. */
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

/** The newest events by rising places. */
interface EventRing {
  add(event: StoredEvent): void
  /** The place of the oldest event; of the next one if empty. */
  first(): number
  at(place: number): StoredEvent | undefined
  clear(): void
}

/** Limits the number and the total characters of events. Always keeps the newest. */
export function createEventRing(most: { readonly events: number; readonly characters: number }): EventRing {
  const kept = new Map<number, StoredEvent>()
  let [first, next, characters] = [0, 0, 0]
  const drop = () => {
    characters -= kept.get(first)?.size ?? 0
    kept.delete(first)
    first += 1
  }
  return {
    add(event) {
      kept.set(next, event)
      next += 1
      characters += event.size
      while (kept.size > most.events || (kept.size > 1 && characters > most.characters)) drop()
    },
    first: () => first,
    at: (place) => kept.get(place),
    clear() {
      while (first < next) drop()
    },
  }
}
