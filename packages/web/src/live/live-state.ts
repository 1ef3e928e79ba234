import { useSyncExternalStore } from 'react'
import { useOwnNow } from './clock.ts'

/** State of the event stream. `denied`: the user may not follow it. */
export interface Live {
  readonly state: 'connecting' | 'live' | 'lost' | 'denied'
  /** When the server was last heard, by this machine's clock; null: never. */
  readonly heardAt: number | null
  /** Begin of the state. */
  readonly since: number
}

/** The server sends something every 15 seconds: a longer silence is an outage. */
const SILENT_MS = 20_000
/** Shorter interruptions turn nothing off. */
const PATIENCE_MS = 10_000

let now: Live = { state: 'connecting', heardAt: null, since: Date.now() }
const listeners = new Set<() => void>()
const watchers = new Set<(live: Live) => void>()

function become(state: Live['state'], heardAt: number | null): void {
  now = { state, heardAt, since: state === now.state ? now.since : Date.now() }
  for (const each of listeners) each()
  for (const each of watchers) each(now)
}

/** Records data from the stream, at most once per second. */
export function hear(): void {
  const at = Date.now()
  if (now.state !== 'live' || at - (now.heardAt ?? 0) > 1_000) become('live', at)
}

/** Records a broken stream. */
export function loseStream(): void {
  if (now.state !== 'denied') become('lost', now.heardAt)
}

/** Records that the user may not follow events. */
export function denyStream(): void {
  become('denied', now.heardAt)
}

/** Takes the state from the tab that has the stream. */
export function copyLive({ state, heardAt }: Live): void {
  become(state, heardAt)
}

/** Records a new stream, for another user. */
export function beginStream(): void {
  become('connecting', null)
}

/** The present state. */
export function presentLive(): Live {
  return now
}

/** Calls `watcher` on each change; returns a function to end that. */
export function watchLive(watcher: (live: Live) => void): () => void {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

/** The text of the header's chip. */
export interface Sight {
  readonly kind: 'live' | 'connecting' | 'reconnecting' | 'stale' | 'denied'
  /** Milliseconds in this state, or since the server was heard. */
  readonly forMs: number
}

/** How well the console sees the server. */
export function useSight(): Sight {
  const live = useSyncExternalStore(listen, presentLive)
  return sightOf(live, useOwnNow())
}

/** Returns whether the server is out of sight, so that no order may be given. */
export function useIsStale(): boolean {
  return useSight().kind === 'stale'
}

function sightOf({ state, heardAt, since }: Live, at: number): Sight {
  if (state === 'denied') return { kind: 'denied', forMs: 0 }
  const silentMs = at - (heardAt ?? since)
  if (state === 'live') return { kind: silentMs > SILENT_MS ? 'stale' : 'live', forMs: silentMs }
  // After a sleep, the connection was lost just now, but the server has not been heard for hours.
  if (at - since > PATIENCE_MS || (heardAt !== null && silentMs > SILENT_MS))
    return { kind: 'stale', forMs: silentMs }
  return { kind: heardAt === null ? 'connecting' : 'reconnecting', forMs: at - since }
}

function listen(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
