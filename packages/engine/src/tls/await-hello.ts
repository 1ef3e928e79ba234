import type { Socket } from 'node:net'
import { judgeHello, MOST_BYTES } from './judge-hello.ts'

/** Log reasons for closing a client before its handshake. */
const LONG_HELLO = 'TLS: it sent more than a first message has'
/** Log reason for a client whose first bytes are no handshake. */
const FOREIGN_HELLO = 'TLS: it sent something else before its handshake'

/** Events of a client: first one of `come`, `plain` and `refused`; `refused` may follow `come`. */
export interface HelloHeard {
  /** Called when its first message is complete. */
  readonly come: () => void
  /** Called if its bytes are not TLS. */
  readonly plain: () => void
  /** Called if it must be closed: TLS must read none of its bytes. */
  readonly refused: (why: string) => void
}

/**
 * Waits for a client's first message, of at most `MOST_BYTES`, because TLS would read any length after a
 * first part. Call the returned function at the client's turn: it calls `then`, which may read the client
 * from its first byte. Until then, bytes are kept, and more than a first message is refused.
 */
export function awaitHello(raw: Socket, on: HelloHeard): (then: () => void) => void {
  let said: Buffer = Buffer.alloc(0)
  let hasCome = false
  const stop = (): void => {
    raw.off('readable', look)
    raw.off('end', ended)
  }
  const refuse = (why: string): void => {
    stop()
    on.refused(why)
  }
  const look = (): void => {
    const more: Buffer | null = raw.read()
    if (more === null || raw.destroyed) return
    said = said.length === 0 ? more : Buffer.concat([said, more])
    if (hasCome) {
      if (said.length > MOST_BYTES) refuse(LONG_HELLO)
      return
    }
    const hello = judgeHello(said)
    if (hello === 'long') refuse(LONG_HELLO)
    else if (hello === 'foreign') refuse(FOREIGN_HELLO)
    else if (hello !== 'part') {
      hasCome = true
      if (hello === 'plain') on.plain()
      else on.come()
    }
  }
  /** Without a complete first message, none will come. */
  const ended = (): void => {
    if (!hasCome) raw.destroy()
  }
  raw.on('readable', look)
  raw.once('end', ended)
  return (then) => {
    stop()
    raw.unshift(said)
    process.nextTick(then)
  }
}
