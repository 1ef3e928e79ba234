import type { Obstacle } from '../../core/state/obstacle.ts'
import type { Outcome } from './outcome.ts'
import { realTime, type Time } from './time.ts'

/** The result of a preparation: ready, or an obstacle. */
export type Prepared = Outcome | 'ready'
/** The preparation runs, or waits until others have been used. */
export interface Pending extends Obstacle {
  readonly kind: 'pending'
}

/**
 * Work of some tenths of a second that comes before a step and changes nothing by itself. It goes on beside the turns, so that
 * no other group waits for it: a step asks for it in each turn, and goes on in the first one in which it is ready. In a turn in
 * which all others do the same it waits for that.
 */
export interface Preparations extends AsyncDisposable {
  /**
   * The state of `what`: begun now, running, or the answer of `prepare` of less than a second ago. Anything but 'ready' is
   * answered, or thrown, once, and started again the next time. A few of one database run at once.
   */
  ask(
    of: { readonly databaseUid: number; readonly what: string },
    prepare: (signal: AbortSignal) => Promise<Prepared>,
  ): Prepared | Pending
  /** The preparation was used. */
  end(what: string): void
  /** Resolves when a preparation has ended or was used, and after `withinMs` at the latest. */
  change(withinMs: number): Promise<void>
}

/** More would only take the processors from each other, and be out of date when their turn comes. */
const AT_ONCE = 4
/** A result that is older may no longer be true. */
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
