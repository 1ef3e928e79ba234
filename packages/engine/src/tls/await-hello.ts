import type { Socket } from 'node:net'
import { judgeHello, MOST_BYTES } from './judge-hello.ts'

/** Why a client is closed before its handshake, for logs. */
const LONG_HELLO = 'TLS: it sent more than a first message has'
/** The same. */
const FOREIGN_HELLO = 'TLS: it sent something else before its handshake'

/** What is heard of a client. One of `come`, `plain` and `refused` is called first; `refused` may still follow `come`. */
export interface HelloHeard {
  /** Its first message is there as a whole. */
  readonly come: () => void
  /** What it says is no TLS. */
  readonly plain: () => void
  /** It is to be closed: nothing of what it says is for TLS to read. */
  readonly refused: (why: string) => void
}

/**
 * Waits for the first message of a client, which is never longer than `MOST_BYTES`. TLS must not see a part of it before: it would read the rest however long that is. What it returns is to be
 * called when it is the client's turn; until then what the client says is kept, and what is more than a first message is refused. It calls `then`, which may read the
 * client from its first byte on.
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
  /** Without a first message, it will send none. */
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
