import { AsyncLocalStorage } from 'node:async_hooks'
import { Refusal } from '@fairlead/api'

const noted = new AsyncLocalStorage<{ hasCommitted: boolean }>()

/** `work` failed after one of its transactions had committed; see `cause`. */
export class FailedAfterCommit extends Error {
  override readonly name = 'FailedAfterCommit'
  readonly code = 'FAILED_AFTER_COMMIT'
}

/** If `work` throws after a commit, wraps the error in FailedAfterCommit; a Refusal passes through. */
export async function wrapFailureAfterCommit<T>(work: () => Promise<T>): Promise<T> {
  const one = { hasCommitted: false }
  try {
    return await noted.run(one, work)
  } catch (cause) {
    if (!one.hasCommitted || cause instanceof Refusal) throw cause
    throw new FailedAfterCommit('it failed after a change was written', { cause })
  }
}

/** Records that the current work has committed a transaction. */
export function noteCommit(): void {
  const one = noted.getStore()
  if (one !== undefined) one.hasCommitted = true
}
