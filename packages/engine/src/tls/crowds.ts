import type { Socket } from 'node:net'

/** Clients that have not signed in, and whose sockets Node reads, by their sources. */
export interface Crowds {
  add(raw: Socket, source: string): void
  /** It has signed in, or is gone. */
  remove(raw: Socket): void
  all(): Iterable<Socket>
  /** A user has signed in from there. */
  know(source: string): void
  /** Whether that was within the last hour. */
  isKnown(source: string): boolean
  /** Whether another one from there must be read record by record. */
  isFull(source: string): boolean
  /** Whether a client that waits a moment may find room: not while others have waited in vain. */
  mayThin(source: string): boolean
  waitedInVain(source: string): void
}

/**
 * If all of them flood at one moment, others wait once for what these sockets hold. A library signs in within a millisecond or two after its handshake.
 */
const MOST = 16
/** For so long a source from which a user has signed in has room of its own, whatever comes from others. */
const KNOWN_MS = 3_600_000
const MOST_SOURCES = 10_000
const NO_WAIT_MS = 10_000

/** Starts without clients. Each known source has a crowd of its own; all others are one. */
export function createCrowds(): Crowds {
  const members = new Map<Socket, string>()
  /** The last one to sign in is last. */
  const knownUntilMs = new Map<string, number>()
  /** By known source; '' is all others. */
  const noWaitUntilMs = new Map<string, number>()
  const isKnown = (source: string, nowMs: number) => (knownUntilMs.get(source) ?? 0) > nowMs
  const crowdOf = (source: string, nowMs: number) => (isKnown(source, nowMs) ? source : '')
  return {
    add: (raw, source) => void members.set(raw, source),
    remove: (raw) => void members.delete(raw),
    all: () => members.keys(),
    know(source) {
      knownUntilMs.delete(source)
      knownUntilMs.set(source, performance.now() + KNOWN_MS)
      const [oldest] = knownUntilMs
      if (knownUntilMs.size <= MOST_SOURCES || oldest === undefined) return
      knownUntilMs.delete(oldest[0])
      noWaitUntilMs.delete(oldest[0])
    },
    isKnown: (source) => isKnown(source, performance.now()),
    isFull(source) {
      const nowMs = performance.now()
      const crowd = crowdOf(source, nowMs)
      let size = 0
      for (const other of members.values()) if (crowdOf(other, nowMs) === crowd) size += 1
      return size >= MOST
    },
    mayThin(source) {
      const nowMs = performance.now()
      return (noWaitUntilMs.get(crowdOf(source, nowMs)) ?? 0) <= nowMs
    },
    waitedInVain(source) {
      const nowMs = performance.now()
      noWaitUntilMs.set(crowdOf(source, nowMs), nowMs + NO_WAIT_MS)
    },
  }
}
