import { type Static, Type } from 'typebox'

/**
 * The proxy process of the node. `starting`: it has not answered yet. `exited`: it died, and is started again before long.
 * `failed`: it died before it ever answered, or cannot be started; that is tried again, too. `why` says what is wrong.
 */
export const ProxyState = Type.Object({
  state: Type.Enum(['starting', 'running', 'exited', 'failed']),
  pid: Type.Union([Type.Integer(), Type.Null()]),
  why: Type.String(),
  /** Times it died on its own since it was last stopped on order. */
  crashes: Type.Integer(),
  /** Why and when (milliseconds since 1970) the process before this one died; absent when none did, or it was stopped on order. */
  diedBefore: Type.Optional(Type.Object({ at: Type.Integer(), why: Type.String() })),
})
export type ProxyState = Static<typeof ProxyState>
