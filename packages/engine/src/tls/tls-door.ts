import type { Socket } from 'node:net'
import type { Server } from 'node:tls'
import { type HandshakeEnd, shakeHands } from './shake-hands.ts'
import type { TlsGuard } from './tls-guard.ts'

/** Where handshakes with clients begin. */
export interface TlsDoor {
  /** Begins the handshake. `cut` is called, now or later, if the client floods. */
  begin(raw: Socket, cut: Cut, end: HandshakeEnd): void
  /** It is served. `isStranger`: whether it has not signed in yet. */
  admit(raw: Socket, secured: Socket, isStranger: () => boolean): void
}

type Cut = (client: Socket, why: string) => void

/** A client waits this long for others to sign in. After that it is served in any case, but with more processor time, until it leaves. */
const WAIT_MS = 250
const AGAIN_MS = 10
/** Fewer than may be strangers before clients are read with more care (tls-guard.ts): some have ended their handshake and sign in. */
export const HANDSHAKES_AT_ONCE = 12

/** The door of one listener: `server` gets sockets, or streams in place of them while a client has flooded lately. `guard`: that of this thread. */
export function createTlsDoor(server: Server, guard: TlsGuard): TlsDoor {
  return {
    begin(raw, cut, end) {
      raw.once('close', () => guard.forget(raw))
      const untilMs = performance.now() + WAIT_MS
      const tryNow = () => {
        if (raw.destroyed) return
        if (!guard.isOn && guard.isCrowded && performance.now() < untilMs) {
          setTimeout(tryNow, AGAIN_MS).unref()
          return
        }
        const isPaced = guard.isOn || guard.isCrowded
        guard.watch(raw, cut)
        shakeHands(server, raw, { isPaced }, end)
      }
      tryNow()
    },
    admit: guard.admit,
  }
}
