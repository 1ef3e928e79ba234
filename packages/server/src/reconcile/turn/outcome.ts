/**
 * `not yet`: nothing went wrong and nothing is left half-done; look again, after `afterMs` where clients were held for
 * it. `hopeless`: it was found out only in the doing that the goal cannot be reached; nothing is left half-done either.
 * Trouble is thrown.
 */
export type Outcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'not yet'; readonly why: string; readonly afterMs?: number }
  | { readonly kind: 'hopeless'; readonly why: string }

export const done: Outcome = { kind: 'done' }
