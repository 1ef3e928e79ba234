import { AsyncLocalStorage } from 'node:async_hooks'

/** Header with a request's id, to the agent and back to the program that has sent it. */
export const REQUEST_ID_HEADER = 'x-request-id'

/** Ids are in logs and answers, so they contain nothing that needs an escape. */
const ID = /^[\w.:-]{1,64}$/

const current = new AsyncLocalStorage<string | undefined>()

/**
 * Returns the id in a request's header; undefined if missing, longer than 64 characters, or with others than
 * letters, digits and `_.:-`.
 */
export function readRequestId(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'string' && ID.test(header) ? header : undefined
}

/**
 * Runs `work` for the request with this id, which its log lines and its requests to the agent contain.
 * Undefined for no request, as a loop needs that outlives the request that has started it.
 */
export function underRequest<T>(id: string | undefined, work: () => T): T {
  return current.run(id, work)
}

/** Id of the request that the current work belongs to; undefined if none. */
export function currentRequestId(): string | undefined {
  return current.getStore()
}

/** Header with the current id; none without one. */
export function requestIdHeader(): Readonly<Record<string, string>> {
  const id = current.getStore()
  return id === undefined ? {} : { [REQUEST_ID_HEADER]: id }
}
