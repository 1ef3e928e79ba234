import type { Socket } from 'node:net'
import { type Crowds, createCrowds } from './crowds.ts'

/** Keeps clients from flooding this thread with TLS records that hold nothing. */
export interface TlsGuard {
  /** Whether a client has flooded lately: new clients must be read record by record (pace-records.ts), which takes more processor time. */
  isOn(): boolean
  /** Whether so many clients have not signed in that another one from this source must be read so, too. */
  isCrowded(source: string): boolean
  readonly crowds: Pick<Crowds, 'mayThin' | 'waitedInVain' | 'isKnown'>
  /** The handshake of a client begins. `isPaced`: it is read record by record. `cut` is called if it floods. */
  watch(raw: Socket, client: Arrival & { readonly isPaced: boolean }): void
  /** Its handshake has ended. `isStranger`: whether it has not signed in yet. */
  admit(raw: Socket, secured: Socket, isStranger: () => boolean): void
  /** A user has signed in on it: its source is known for an hour. */
  know(raw: Socket): void
  /** It is gone. */
  forget(raw: Socket): void
}

/** A client that has come. */
export interface Arrival {
  /** Where it has come from, and to. */
  readonly source: string
  cut(client: Socket, why: string): void
}

interface Watched extends Arrival {
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
  const crowds = createCrowds()
  let next = all.entries()
  let untilMs = 0
  let timer: NodeJS.Timeout | undefined

  const forget = (raw: Socket): void => {
    crowds.remove(raw)
    all.delete(raw)
    if (all.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
  const look = (raw: Socket, watched: Watched, nowMs: number): void => {
    if (!watched.isStranger()) crowds.remove(raw)
    if (!isFlood(raw, watched, nowMs)) return
    untilMs = nowMs + ON_MS
    forget(raw)
    watched.cut(watched.secured ?? raw, FLOODS)
  }
  const lookAround = (): void => {
    const nowMs = performance.now()
    for (const raw of crowds.all()) {
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
    isOn: () => performance.now() < untilMs,
    crowds,
    isCrowded(source) {
      for (const raw of crowds.all()) if (all.get(raw)?.isStranger() !== true) crowds.remove(raw)
      return crowds.isFull(source)
    },
    watch(raw, { source, cut, isPaced }) {
      all.set(raw, { source, cut, ...unseen(performance.now()) })
      if (!isPaced) crowds.add(raw, source)
      timer ??= setInterval(lookAround, LOOK_EVERY_MS).unref()
    },
    admit(raw, secured, isStranger) {
      const watched = all.get(raw)
      if (watched !== undefined) Object.assign(watched, { secured, isStranger })
    },
    know(raw) {
      const watched = all.get(raw)
      if (watched !== undefined) crowds.know(watched.source)
      crowds.remove(raw)
    },
    forget,
  }
}

function unseen(nowMs: number): Omit<Watched, keyof Arrival> {
  const at = { readBytes: 0, clearBytes: 0, lookedMs: nowMs, wasted: 0 }
  return { secured: null, isStranger: () => true, ...at }
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
