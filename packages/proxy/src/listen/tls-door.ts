import type { Socket } from 'node:net'
import type { Server } from 'node:tls'
import { paceRecords } from './pace-records.ts'
import { createTlsGuard } from './tls-guard.ts'

/** Where handshakes with clients begin and end. */
interface TlsDoor {
  /** Begins the handshake. `cut` is called, now or later, if the client floods. */
  begin(raw: Socket, cut: Cut): void
  /** Whose handshake has ended, or failed; undefined: it is gone. `secured` has its remote end from then on. */
  rawOf(secured: Socket): Socket | undefined
  /** It is served. `isStranger`: whether it has not signed in yet. */
  admit(raw: Socket, secured: Socket, isStranger: () => boolean): void
}

type Cut = (client: Socket, why: string) => void

/** A client waits this long for others to sign in. After that it is served in any case, but with more processor time, until it leaves. */
const WAIT_MS = 250
const AGAIN_MS = 10
/** Of all endpoints of this thread. */
const guard = createTlsGuard()

/** The door of one endpoint: `server` gets sockets, or streams in place of them while a client has flooded lately. */
export function createTlsDoor(server: Server): TlsDoor {
  const open = new Map<string, Socket>()
  /** The client that TLS has read from last, if it reads from a stream. */
  let latest: Socket | undefined
  const shakeHands = (raw: Socket, isPaced: boolean, cut: Cut): void => {
    guard.watch(raw, cut)
    if (!isPaced) return void server.emit('connection', raw)
    const stream = paceRecords(raw)
    const isNext = () => {
      latest = raw
    }
    // Before TLS hears it.
    stream.on('data', isNext).on('close', isNext)
    server.emit('connection', stream)
  }
  return {
    begin(raw, cut) {
      const peer = peerOf(raw)
      open.set(peer, raw)
      raw.once('close', () => {
        open.delete(peer)
        guard.forget(raw)
      })
      const untilMs = performance.now() + WAIT_MS
      const tryNow = () => {
        if (raw.destroyed) return
        if (!guard.isOn && guard.isCrowded && performance.now() < untilMs)
          setTimeout(tryNow, AGAIN_MS).unref()
        else shakeHands(raw, guard.isOn || guard.isCrowded, cut)
      }
      tryNow()
    },
    rawOf(secured) {
      if (secured.remoteAddress !== undefined) return open.get(peerOf(secured))
      const { remoteAddress, remotePort } = latest ?? {}
      Object.defineProperties(secured, {
        remoteAddress: { value: remoteAddress },
        remotePort: { value: remotePort },
      })
      return latest
    },
    admit: guard.admit,
  }
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
