import { useSyncExternalStore } from 'react'
import { useOwnNow } from './clock.ts'

/** How the stream of events is. `denied`: the user may not follow it. */
export interface Live {
  readonly state: 'connecting' | 'live' | 'lost' | 'denied'
  /** When the server was heard last, by the clock of this machine, whatever that shows; null: never. */
  readonly heardAt: number | null
  /** Since when it is in this state. */
  readonly since: number
}

/** The server sends something every 15 seconds: after this it is not heard any more. */
const SILENT_MS = 20_000
/** Shorter interruptions are no reason to turn anything off. */
const PATIENCE_MS = 10_000

let now: Live = { state: 'connecting', heardAt: null, since: Date.now() }
const listeners = new Set<() => void>()
const watchers = new Set<(live: Live) => void>()

function become(state: Live['state'], heardAt: number | null): void {
  now = { state, heardAt, since: state === now.state ? now.since : Date.now() }
  for (const each of listeners) each()
  for (const each of watchers) each(now)
}

/** The stream has brought something. Of many things in a second one is told. */
export function hear(): void {
  const at = Date.now()
  if (now.state !== 'live' || at - (now.heardAt ?? 0) > 1_000) become('live', at)
}

/** The stream has broken off. */
export function loseStream(): void {
  if (now.state !== 'denied') become('lost', now.heardAt)
}

/** The user may not follow events. */
export function denyStream(): void {
  become('denied', now.heardAt)
}

/** Another tab of this browser has the stream, and says how it is. */
export function copyLive({ state, heardAt }: Live): void {
  become(state, heardAt)
}

/** A stream is about to begin, for another user than before. */
export function beginStream(): void {
  become('connecting', null)
}

/** How the stream is now. */
export function presentLive(): Live {
  return now
}

/** Calls `watcher` at each change; returns what ends that. */
export function watchLive(watcher: (live: Live) => void): () => void {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

/** What the chip in the header says. */
export interface Sight {
  readonly kind: 'live' | 'connecting' | 'reconnecting' | 'stale' | 'denied'
  /** How long it has been so, or since the server was heard, in milliseconds. */
  readonly forMs: number
}

/** How well the console sees the server, now. */
export function useSight(): Sight {
  const live = useSyncExternalStore(listen, presentLive)
  return sightOf(live, useOwnNow())
}

/** Whether the console has lost sight of the server, so that no order may be given. */
export function useIsStale(): boolean {
  return useSight().kind === 'stale'
}

function sightOf({ state, heardAt, since }: Live, at: number): Sight {
  if (state === 'denied') return { kind: 'denied', forMs: 0 }
  const silentMs = at - (heardAt ?? since)
  if (state === 'live') return { kind: silentMs > SILENT_MS ? 'stale' : 'live', forMs: silentMs }
  // After a sleep the connection has just been lost, but the server was not heard for hours.
  if (at - since > PATIENCE_MS || (heardAt !== null && silentMs > SILENT_MS))
    return { kind: 'stale', forMs: silentMs }
  return { kind: heardAt === null ? 'connecting' : 'reconnecting', forMs: at - since }
}

function listen(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
