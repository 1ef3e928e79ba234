import type { Socket } from 'node:net'
import type { Server } from 'node:tls'
import { type HandshakeEnd, shakeHands } from './shake-hands.ts'
import type { Arrival, TlsGuard } from './tls-guard.ts'

/** Where handshakes with clients begin. */
export interface TlsDoor {
  /** Begins the handshake. Its `cut` is called, now or later, if the client floods. */
  begin(raw: Socket, client: Arrival & HandshakeEnd): void
  /** It is served. `isStranger`: whether it has not signed in yet. */
  admit(raw: Socket, secured: Socket, isStranger: () => boolean): void
  /** A user has signed in on it. */
  know(raw: Socket): void
}

/** A client waits this long for others to sign in. After that it is served in any case, but with more processor time, until it leaves. */
const WAIT_MS = 250
const AGAIN_MS = 10
/** Fewer than may be strangers before clients are read with more care (crowds.ts): some have ended their handshake and sign in. */
export const HANDSHAKES_AT_ONCE = 12

/** The door of one listener: `server` gets sockets, or streams in place of them while a client has flooded lately. `guard`: that of this thread. */
export function createTlsDoor(server: Server, guard: TlsGuard): TlsDoor {
  const { crowds } = guard
  return {
    begin(raw, client) {
      const { source } = client
      raw.once('close', () => guard.forget(raw))
      const untilMs = performance.now() + WAIT_MS
      const tryNow = () => {
        if (raw.destroyed) return
        const isCrowded = guard.isCrowded(source)
        if (isCrowded && !guard.isOn() && crowds.mayThin(source)) {
          if (performance.now() < untilMs) {
            setTimeout(tryNow, AGAIN_MS).unref()
            return
          }
          crowds.waitedInVain(source)
        }
        const isPaced = guard.isOn() || isCrowded
        guard.watch(raw, { ...client, isPaced })
        shakeHands(server, raw, { isPaced }, client)
      }
      tryNow()
    },
    admit: guard.admit,
    know: guard.know,
  }
}
