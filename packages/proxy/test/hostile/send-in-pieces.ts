import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Random } from './random.ts'

/** Sends bytes whole, or in up to eight pieces of any length, with `pauseMs()` after each. */
export async function sendInPieces(
  socket: Socket,
  bytes: Buffer,
  random: Random,
  pauseMs: () => number,
): Promise<void> {
  const pieces = random.below(2) === 0 ? 1 : 2 + random.below(7)
  for (let n = 0, at = 0; n < pieces && at < bytes.length; n += 1) {
    const end = n + 1 === pieces ? bytes.length : at + 1 + random.below(bytes.length - at)
    if (!socket.destroyed) socket.write(bytes.subarray(at, end))
    at = end
    await pause(pauseMs())
  }
}
