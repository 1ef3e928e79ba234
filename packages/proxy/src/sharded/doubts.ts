import type { EndpointReport } from '@fairlead/api/of-proxies'

/** Redirects that were not followed, for the server's report: their number and the last reason. */
export interface Doubts {
  note(why: string): void
  readonly seen: NonNullable<EndpointReport['doubted']>
}

/** Starts without doubts. */
export function createDoubts(): Doubts {
  let count = 0
  let last = ''
  return {
    note(why) {
      count += 1
      last = why
    },
    get seen() {
      return { count, why: last }
    },
  }
}
