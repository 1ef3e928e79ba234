import { type Static, Type } from 'typebox'

/** Load of a proxy's event loop, as seen by its heartbeat thread, which does nothing else. */
export const LoopTurns = Type.Object({
  /** `main`, or `worker 1` and so on. */
  loop: Type.String(),
  /** Pieces of work begun since the start; restarts at 0 after 2^31. */
  turns: Type.Integer(),
  /** Duration of the present one, ± half a second. 0: ended at the last look. */
  turnMs: Type.Number(),
  /** CPU time spent on it. */
  cpuMs: Type.Number(),
  /** Time that the thread neither used the CPU nor waited for it or for a disk. */
  idleMs: Type.Number(),
  /** The kind of work, with client and database; empty if unknown. No secrets. */
  doing: Type.String(),
})
export type LoopTurns = Static<typeof LoopTurns>

/** JSON that a proxy's heartbeat thread writes to each client of its socket before closing the connection. */
export const ProxyTurns = Type.Object({ pid: Type.Integer(), loops: Type.Array(LoopTurns) })
export type ProxyTurns = Static<typeof ProxyTurns>

/** Name of that socket in the proxy's home. */
export const TURNS_SOCKET = 'turns.sock'
