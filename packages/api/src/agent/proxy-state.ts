import { type Static, Type } from 'typebox'

/**
 * The proxy process of the node; `why` has the reason of a failure:
 * - `starting`: not answered yet.
 * - `exited`: died, and will be restarted.
 * - `failed`: died before it answered, or cannot be started; it is retried.
 */
export const ProxyState = Type.Object({
  state: Type.Enum(['starting', 'running', 'exited', 'failed']),
  pid: Type.Union([Type.Integer(), Type.Null()]),
  why: Type.String(),
  /** Deaths without an order since it was last stopped on order. */
  crashes: Type.Integer(),
  /** Reason and time (Unix milliseconds) of the previous process's death; absent: none died. */
  diedBefore: Type.Optional(Type.Object({ at: Type.Integer(), why: Type.String() })),
})
export type ProxyState = Static<typeof ProxyState>
