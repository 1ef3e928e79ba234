import { AsyncLocalStorage } from 'node:async_hooks'
import { Refusal } from '@fairlead/api'

const noted = new AsyncLocalStorage<{ hasCommitted: boolean }>()

/** `work` failed after a transaction of it was committed: a change is there. `cause`: why. */
export class FailedAfterCommit extends Error {
  override readonly name = 'FailedAfterCommit'
  readonly code = 'FAILED_AFTER_COMMIT'
}

/** Runs `work`. What it throws, but for a Refusal, is the cause of a FailedAfterCommit where one of its transactions was committed before. */
export async function tellOfCommits<T>(work: () => Promise<T>): Promise<T> {
  const one = { hasCommitted: false }
  try {
    return await noted.run(one, work)
  } catch (cause) {
    if (!one.hasCommitted || cause instanceof Refusal) throw cause
    throw new FailedAfterCommit('it failed after a change was written', { cause })
  }
}

/** Notes that a transaction was committed in the current work. */
export function noteCommit(): void {
  const one = noted.getStore()
  if (one !== undefined) one.hasCommitted = true
}
