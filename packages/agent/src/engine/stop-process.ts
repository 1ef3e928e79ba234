import { setTimeout as delay } from 'node:timers/promises'
import { connectEngine, type EngineConnection } from '@fairlead/engine'
import { traceOfWrites } from '../folder/read-data-on-disk.ts'
import { isAlive, type ProcessIdentity, signalProcess } from '../process/process-identity.ts'
import { type Activity, watchActivity } from '../process/watch-activity.ts'
import { type EngineTarget, readErrorReply } from './ask-engine.ts'

export interface StopOptions {
  readonly identity: ProcessIdentity
  readonly target: EngineTarget
  /** True to write a snapshot first. Without one, everything not on disk is lost. */
  readonly save: boolean
  readonly data: string
  /** Limit of the time without a write before it is ended by signals. */
  readonly stopWithinMs: number
  /** Limit of the time without a connection. */
  readonly hungAfterMs: number
  /** True if signals lose nothing. Otherwise a process that cannot be stopped cleanly continues. */
  readonly mayForce: boolean
  readonly signal: AbortSignal
}

/** `gone`: it has ended; `forced` describes a kill. `refused`: it continues, and `why` is the reason. */
export type StopResult =
  | { readonly kind: 'gone'; readonly forced: string | null }
  | { readonly kind: 'refused'; readonly why: string }

/** Time between SIGTERM and SIGKILL. */
const TERM_WITHIN_MS = 10_000
/** A save takes as long as its data needs: only a save without progress has a deadline. */
const LONGEST_SHUTDOWN_MS = 24 * 60 * 60 * 1000

/**
 * Stops an engine process by SHUTDOWN; throws when aborted. A process that cannot save refuses and continues,
 * so that nothing is lost, and so does a busy one. An unresponsive idle process, or one without progress in
 * its shutdown, is ended by SIGTERM and SIGKILL only if `mayForce` is set.
 */
export async function stopProcess(options: StopOptions): Promise<StopResult> {
  const { identity, hungAfterMs, save, mayForce, signal } = options
  const opened = await openConnection(options)
  switch (opened.kind) {
    case 'gone':
      return { kind: 'gone', forced: null }
    case 'loading':
      // It has accepted no writes; a loading engine ends immediately on SIGTERM without changing its files.
      return await endBySignals(identity, 'while it loaded its data', signal)
    case 'refused':
      return save ? opened : await endBySignals(identity, 'because it refused our login', signal)
    case 'silent': {
      if (!mayForce || (save && opened.busy))
        return {
          kind: 'refused',
          why: `it has not answered for ${hungAfterMs} ms${opened.busy ? ': it is busy' : ''}`,
        }
      signalProcess(identity, 'SIGKILL')
      await waitForEnd(identity, TERM_WITHIN_MS, signal)
      return { kind: 'gone', forced: `did not answer for ${hungAfterMs} ms and was killed` }
    }
    case 'open': {
      using connection = opened.connection
      return await shutDown(connection, options)
    }
  }
}

type Opened =
  | { readonly kind: 'gone' | 'loading' }
  | { readonly kind: 'silent'; readonly busy: boolean }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'open'; readonly connection: EngineConnection }

async function openConnection({ identity, target, hungAfterMs, signal }: StopOptions): Promise<Opened> {
  const until = performance.now() + hungAfterMs
  const activity = watchActivity()
  while (isAlive(identity)) {
    const seen = activity.look(identity.pid, performance.now())
    signal.throwIfAborted()
    try {
      const connection = await connectEngine({ ...target, commandTimeoutMs: LONGEST_SHUTDOWN_MS })
      return { kind: 'open', connection }
    } catch (cause) {
      const words = readErrorReply(cause)
      if (words?.startsWith('LOADING')) return { kind: 'loading' }
      if (words !== null && !words.startsWith('BUSY')) return { kind: 'refused', why: words }
    }
    if (performance.now() > until) return { kind: 'silent', busy: isBusy(seen) }
    await delay(50, undefined, { signal })
  }
  return { kind: 'gone' }
}

async function shutDown(connection: EngineConnection, options: StopOptions): Promise<StopResult> {
  const { identity, save, data, stopWithinMs, mayForce, signal } = options
  let refusal: string | null = null
  const answered = connection.call('SHUTDOWN', save ? 'SAVE' : 'NOSAVE').then(
    () => undefined,
    // On success the connection closes without a reply.
    (cause: unknown) => {
      refusal = readErrorReply(cause)
    },
  )
  const activity = watchActivity()
  let stillSince = performance.now()
  let written = ''
  for (let pauseMs = 5; isAlive(identity); pauseMs = Math.min(pauseMs * 1.5, 100)) {
    if (refusal !== null) return { kind: 'refused', why: refusal }
    const before = written
    written = save ? await traceOfWrites(data) : ''
    // Compares traces, not times of files: the clock may be set during the save.
    const moves = save && (written !== before || isBusy(activity.look(identity.pid, performance.now())))
    if (moves) stillSince = performance.now()
    if (performance.now() - stillSince > stopWithinMs) {
      const why = `after ${stopWithinMs} ms without progress in SHUTDOWN`
      return mayForce
        ? await endBySignals(identity, why, signal)
        : { kind: 'refused', why: `it runs on ${why}` }
    }
    await delay(pauseMs, undefined, { signal })
  }
  connection[Symbol.dispose]()
  await answered
  return { kind: 'gone', forced: null }
}

function isBusy(activity: Activity | null): boolean {
  return activity !== null && activity.doing !== 'idle' && activity.doing !== 'stopped'
}

async function endBySignals(
  identity: ProcessIdentity,
  why: string,
  signal: AbortSignal,
): Promise<StopResult> {
  signalProcess(identity, 'SIGTERM')
  if (await waitForEnd(identity, TERM_WITHIN_MS, signal))
    return { kind: 'gone', forced: `was ended by SIGTERM ${why}` }
  signalProcess(identity, 'SIGKILL')
  await waitForEnd(identity, TERM_WITHIN_MS, signal)
  return { kind: 'gone', forced: `was killed ${why}` }
}

/** Waits for the end of the process; false if it still runs after `withinMs`. */
export async function waitForEnd(
  identity: ProcessIdentity,
  withinMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const until = performance.now() + withinMs
  while (isAlive(identity)) {
    if (performance.now() > until) return false
    await delay(5, undefined, { signal })
  }
  return true
}
