import type { Obstacle } from '../../core/state/obstacle.ts'
import type { Outcome } from './outcome.ts'
import { realTime, type Time } from './time.ts'

/** Result of a preparation: ready, or an obstacle. */
export type Prepared = Outcome | 'ready'
/** The preparation runs, or waits until others have been used. */
export interface Pending extends Obstacle {
  readonly kind: 'pending'
}

/**
 * Work of some tenths of a second before a step, without effects. It is concurrent with the turns, so that
 * other groups do not wait: a step asks in each turn, and continues once the result is ready. If all other
 * groups prepare too, the turn waits for that.
 */
export interface Preparations extends AsyncDisposable {
  /**
   * Returns the state of `what`: just begun, running, or the result of `prepare` if younger than a second. A
   * result other than 'ready' is returned or thrown once, and the work restarts at the next call. A few of
   * one database run at the same time.
   */
  ask(
    of: { readonly databaseUid: number; readonly what: string },
    prepare: (signal: AbortSignal) => Promise<Prepared>,
  ): Prepared | Pending
  /** Called when the preparation was used. */
  end(what: string): void
  /** Resolves when a preparation has ended or was used, at the latest after `withinMs`. */
  change(withinMs: number): Promise<void>
}

/** More would compete for processors, and be outdated when their turn comes. */
const AT_ONCE = 4
/** An older result may no longer be true. */
const COUNTS_MS = 1_000

interface Entry {
  readonly databaseUid: number
  readonly running: Promise<void>
  /** Null while it runs. */
  answer: ({ readonly prepared: Prepared } | { readonly cause: unknown }) | null
  answeredAt: number
}

/** Starts without preparations. */
export function createPreparations({ elapsed: now, pause }: Time = realTime): Preparations {
  const stop = new AbortController()
  const entries = new Map<string, Entry>()
  let changed = Promise.withResolvers<void>()
  const tell = () => {
    changed.resolve()
    changed = Promise.withResolvers()
  }

  const begin = (databaseUid: number, prepare: (signal: AbortSignal) => Promise<Prepared>): Entry => {
    const done = (answer: Entry['answer']) => {
      Object.assign(entry, { answer, answeredAt: now() })
      tell()
    }
    const running = prepare(stop.signal).then(
      (prepared) => done({ prepared }),
      (cause: unknown) => done({ cause }),
    )
    const entry: Entry = { databaseUid, running, answer: null, answeredAt: 0 }
    return entry
  }

  const dropOld = () => {
    for (const [what, { answer, answeredAt }] of entries)
      if (answer !== null && now() - answeredAt > COUNTS_MS) entries.delete(what)
  }

  return {
    ask({ databaseUid, what }, prepare) {
      dropOld()
      const entry = entries.get(what)
      if (entry === undefined) {
        const inHand = [...entries.values()].filter((one) => one.databaseUid === databaseUid)
        if (inHand.length >= AT_ONCE)
          return { kind: 'pending', code: 'other_groups', why: 'other groups hand over first' }
        entries.set(what, begin(databaseUid, prepare))
      }
      const answer = entry?.answer ?? null
      if (answer === null)
        return { kind: 'pending', code: 'preparing', why: 'the handover is being prepared' }
      if ('prepared' in answer && answer.prepared === 'ready') return 'ready'
      entries.delete(what)
      if ('cause' in answer) throw answer.cause
      return answer.prepared
    },
    end(what) {
      entries.delete(what)
      tell()
    },
    async change(withinMs) {
      const enough = new AbortController()
      const late = pause(withinMs, enough.signal).catch(() => undefined)
      await Promise.race([changed.promise, late])
      enough.abort()
    },
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('the server stops'))
      await Promise.all([...entries.values()].map(({ running }) => running))
    },
  }
}
