import type { Socket } from 'node:net'

/** Keeps clients from flooding this thread with TLS records that hold nothing. */
export interface TlsGuard {
  /** Whether a client has flooded lately: new clients must be read record by record (pace-records.ts), which takes more processor time. */
  readonly isOn: boolean
  /** Whether so many clients have not signed in that another one must be read so, too. */
  readonly isCrowded: boolean
  /** The handshake of a client begins. `cut` is called if it floods. */
  watch(raw: Socket, cut: (client: Socket, why: string) => void): void
  /** Its handshake has ended. `isStranger`: whether it has not signed in yet. */
  admit(raw: Socket, secured: Socket, isStranger: () => boolean): void
  /** It is gone. */
  forget(raw: Socket): void
}

interface Watched {
  readonly cut: (client: Socket, why: string) => void
  secured: Socket | null
  isStranger: () => boolean
  /** At the last look. */
  readBytes: number
  clearBytes: number
  lookedMs: number
  /** The bytes of records that held nothing, less those that are forgiven. */
  wasted: number
}

/** After a flood, this long. */
const ON_MS = 600_000
/**
 * Clients that have not signed in, and whose sockets Node reads: if all of them flood at one moment, others wait once for what these sockets hold.
 * A library signs in within a millisecond or two after its handshake.
 */
const MOST_STRANGERS = 16
const LOOK_EVERY_MS = 100
/** How many clients one look is about, in addition to those that have not signed in. */
const LOOKS = 300
/** A handshake takes a few KB, a record 22 bytes more than it holds; even a client that sends each word by itself sends more than a byte in a record. */
const MOST_WASTED = 32 * 1024
const PER_CLEAR_BYTE = 8
const FORGIVEN_A_MS = 4
/** For logs and reports: why a client was cut. */
export const FLOODS = 'TLS: it sent thousands of records that hold nothing'

/** Watches nothing yet. */
export function createTlsGuard(): TlsGuard {
  const all = new Map<Socket, Watched>()
  const newcomers = new Set<Socket>()
  let next = all.entries()
  let untilMs = 0
  let timer: NodeJS.Timeout | undefined

  const forget = (raw: Socket): void => {
    newcomers.delete(raw)
    all.delete(raw)
    if (all.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
  const look = (raw: Socket, watched: Watched, nowMs: number): void => {
    if (!watched.isStranger()) newcomers.delete(raw)
    if (!isFlood(raw, watched, nowMs)) return
    untilMs = nowMs + ON_MS
    forget(raw)
    watched.cut(watched.secured ?? raw, FLOODS)
  }
  const lookAround = (): void => {
    const nowMs = performance.now()
    for (const raw of newcomers) {
      const watched = all.get(raw)
      if (watched !== undefined) look(raw, watched, nowMs)
    }
    for (let n = 0; n < LOOKS; n += 1) {
      const { value } = next.next()
      if (value === undefined) {
        next = all.entries()
        return
      }
      look(...value, nowMs)
    }
  }
  return {
    get isOn() {
      return performance.now() < untilMs
    },
    get isCrowded() {
      for (const raw of newcomers) if (all.get(raw)?.isStranger() !== true) newcomers.delete(raw)
      return newcomers.size >= MOST_STRANGERS
    },
    watch(raw, cut) {
      const at = { readBytes: 0, clearBytes: 0, lookedMs: performance.now(), wasted: 0 }
      all.set(raw, { cut, secured: null, isStranger: () => true, ...at })
      newcomers.add(raw)
      timer ??= setInterval(lookAround, LOOK_EVERY_MS).unref()
    },
    admit(raw, secured, isStranger) {
      const watched = all.get(raw)
      if (watched !== undefined) Object.assign(watched, { secured, isStranger })
    },
    forget,
  }
}

function isFlood(raw: Socket, watched: Watched, nowMs: number): boolean {
  const readBytes = raw.bytesRead
  const clearBytes = watched.secured?.bytesRead ?? 0
  const clear = clearBytes - watched.clearBytes
  const wasted = readBytes - watched.readBytes - clear - clear * PER_CLEAR_BYTE
  const forgiven = (nowMs - watched.lookedMs) * FORGIVEN_A_MS
  watched.wasted = Math.max(0, Math.max(0, watched.wasted - forgiven) + wasted)
  watched.readBytes = readBytes
  watched.clearBytes = clearBytes
  watched.lookedMs = nowMs
  return watched.wasted > MOST_WASTED
}
