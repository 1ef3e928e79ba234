import type { Duplex } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'

/**
 * Calls `check` every `everyMs` until it returns a true value, and returns that. Throws when the time is
 * over; `what` names what was waited for, then.
 */
export async function until<T>(
  what: string | (() => string),
  check: () => Promise<T | undefined | false | null> | T | undefined | false | null,
  { withinMs = 60_000, everyMs = 20 }: { readonly withinMs?: number; readonly everyMs?: number } = {},
): Promise<T> {
  const deadline = performance.now() + withinMs
  for (;;) {
    const found = await check()
    if (found !== undefined && found !== false && found !== null) return found
    if (performance.now() > deadline)
      throw new Error(`not within ${withinMs} ms: ${typeof what === 'string' ? what : what()}`)
    await pause(everyMs)
  }
}

/** Resolves when the stream is closed. An error, as from a peer that resets it, is a way to be closed. */
export async function untilClosed(stream: Duplex): Promise<void> {
  if (stream.closed) return
  const { promise, resolve } = Promise.withResolvers<void>()
  stream.on('error', () => undefined).once('close', resolve)
  await promise
}
