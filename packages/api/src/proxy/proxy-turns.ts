import { type Static, Type } from 'typebox'

/** How one event loop of the proxy fares, as seen by its heartbeat thread, which does nothing else. */
export const LoopTurns = Type.Object({
  /** `main`, or `worker 1` and so on. */
  loop: Type.String(),
  /** Pieces of work that it has begun since it started; starts again at 0 after 2^31. */
  turns: Type.Integer(),
  /** How long the present one has lasted: half a second more or less. 0: it had ended at the last look. */
  turnMs: Type.Number(),
  /** Processor time that it has used for it. */
  cpuMs: Type.Number(),
  /** For how long of it the thread has neither used the processor, nor waited for it or for a disk. */
  idleMs: Type.Number(),
  /** What it does, and for which client of which database; empty when it is nothing that is told apart. No secrets. */
  doing: Type.String(),
})
export type LoopTurns = Static<typeof LoopTurns>

/**
 * What the heartbeat thread of a proxy writes to each client of its socket: this, as JSON; then it closes the
 * connection.
 */
export const ProxyTurns = Type.Object({ pid: Type.Integer(), loops: Type.Array(LoopTurns) })
export type ProxyTurns = Static<typeof ProxyTurns>

/** Its name in the home of the proxy. */
export const TURNS_SOCKET = 'turns.sock'
