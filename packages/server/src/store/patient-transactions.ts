import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '@fairlead/engine'
import type { Transaction } from 'kysely'
import { AGAIN_AFTER_MS, PATIENCE_MS } from './patient-reads.ts'
import { isConflict, StoreAway } from './postgres/postgres-trouble.ts'
import type { Db } from './store.ts'
import type { Tables } from './tables.ts'
import { noteCommit } from './wrap-failure-after-commit.ts'

type Work<T> = (db: Transaction<Tables>) => Promise<T>

/** Transactions that survive short outages of PostgreSQL. Disposing removes their marks from the store. */
export interface PatientTransactions extends AsyncDisposable {
  /**
   * Runs `work` in a transaction, and retries after conflicts or outages while that is safe. `work` may only
   * read and write the store. Throws StoreAway: nothing was changed, unless a commit was sent.
   */
  run<T>(work: Work<T>): Promise<T>
}

/**
 * Each transaction writes a mark, which shows later whether a commit without an answer happened. PostgreSQL's
 * transaction number may be reused after a crash. Parallel transactions have separate marks.
 */
export function patientTransactions(db: Db): PatientTransactions {
  const process = randomUUID()
  const free: string[] = []
  let made = 0
  let marked = 0
  return {
    async run(work) {
      made += free.length === 0 ? 1 : 0
      const name = free.pop() ?? `commit:${process}:${made}`
      try {
        const value = await runPatiently(db, work, () => {
          marked += 1
          return { name, value: marked }
        })
        noteCommit()
        return value
      } finally {
        free.push(name)
      }
    },
    async [Symbol.asyncDispose]() {
      const own = db.deleteFrom('counters').where('name', 'like', `commit:${process}:%`)
      await own.execute().catch((cause: unknown) => {
        // A leftover row is harmless.
        if (!(cause instanceof StoreAway)) throw cause
      })
    },
  }
}

/** A row of `counters`. */
interface Mark {
  readonly name: string
  readonly value: number
}

/** A possibly committed transaction: its mark and its result. */
interface Sent<T> {
  readonly mark: Mark
  readonly value: T
}

async function runPatiently<T>(db: Db, work: Work<T>, nextMark: () => Mark): Promise<T> {
  const until = performance.now() + PATIENCE_MS
  let sent: Sent<T> | undefined
  for (;;) {
    let done: Sent<T> | undefined
    try {
      const mark = nextMark()
      return await db.transaction().execute(async (within) => {
        // A transaction that was cut off has ended by now, since this one has the lock.
        if (sent !== undefined && (await isThere(within, sent.mark))) return sent.value
        await leave(within, mark)
        const value = await work(within)
        done = { mark, value }
        return value
      })
    } catch (cause) {
      if (!isConflict(cause) && !(cause instanceof StoreAway)) throw cause
      if (cause instanceof StoreAway && cause.isCommitSent) sent = done ?? sent
      if (performance.now() > until) throw new StoreAway(messageOf(cause), cause, sent !== undefined)
      await delay(AGAIN_AFTER_MS)
    }
  }
}

async function isThere(db: Db, { name, value }: Mark): Promise<boolean> {
  const row = await db.selectFrom('counters').select('value').where('name', '=', name).executeTakeFirst()
  return row?.value === value
}

async function leave(db: Db, mark: Mark): Promise<void> {
  const row = db.insertInto('counters').values(mark)
  await row.onConflict((on) => on.column('name').doUpdateSet({ value: mark.value })).execute()
}
