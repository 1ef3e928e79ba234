import { AsyncLocalStorage } from 'node:async_hooks'

/** Carries the id of a request to the agent, and back to the program that has sent the request. */
export const REQUEST_ID_HEADER = 'x-request-id'

/** Ids stand in logs and in answers: what may need an escape there is no id. */
const ID = /^[\w.:-]{1,64}$/

const current = new AsyncLocalStorage<string | undefined>()

/** The id in the header of a request; undefined when there is none, or it is longer than 64 characters, or has others than letters, digits and `_.:-`. */
export function readRequestId(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'string' && ID.test(header) ? header : undefined
}

/**
 * Runs `work` for the request with this id: its log lines and its requests to the agent name the id. Undefined: for no request; a
 * loop that a request has started, and that outlives the request, needs this.
 */
export function underRequest<T>(id: string | undefined, work: () => T): T {
  return current.run(id, work)
}

/** The id of the request that the current work is done for; undefined when it is done for none. */
export function currentRequestId(): string | undefined {
  return current.getStore()
}

/** The header that carries the current id; without one, no header. */
export function requestIdHeader(): Readonly<Record<string, string>> {
  const id = current.getStore()
  return id === undefined ? {} : { [REQUEST_ID_HEADER]: id }
}
