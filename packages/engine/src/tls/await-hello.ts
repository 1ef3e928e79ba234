import type { Socket } from 'node:net'

/** The first message of a client has 2 KB at most, with keys against quantum computers too. It says no more before it is answered. */
const MOST_BYTES = 8 * 1024

/**
 * Calls `come` when a client has said something, which stays unread. Until what it returns is called, `tooLong` is told of a client that says more than a first message: Node
 * would keep up to 128 KB of each that waits for its turn. What it returns calls `then`, which may read the client.
 */
export function awaitHello(
  raw: Socket,
  on: { readonly come: () => void; readonly tooLong: () => void },
): (then: () => void) => void {
  let hasCome = false
  let isAwaited = true
  const stop = (): void => {
    isAwaited = false
    raw.off('readable', look)
  }
  const look = (): void => {
    if (!hasCome) {
      hasCome = true
      on.come()
    }
    if (!isAwaited || raw.destroyed || raw.readableLength <= MOST_BYTES) return
    stop()
    on.tooLong()
  }
  raw.on('readable', look)
  return (then) => {
    stop()
    process.nextTick(then)
  }
}

/** For logs: why a client was closed. */
export const LONG_HELLO = 'TLS: it sent more than a first message before its turn came'
