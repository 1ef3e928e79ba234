import type { Activity, Doing } from '../process/watch-activity.ts'

/**
 * What is lost when a process ends now, as far as this node knows. `nothing`: it has never answered, or it follows a primary that
 * serves. `unsaved`: it is alone, and what is on its disk comes back. `everything`: it is alone, and nothing is on its disk.
 * `unknown`: there are others in its group, and only the server knows what they hold.
 */
export type Loss = 'nothing' | 'unsaved' | 'everything' | 'unknown'

/** A process that does not answer. Times in milliseconds. */
export interface Silence {
  readonly pid: number
  /** Since its first question without an answer. */
  readonly forMs: number
  readonly activity: Activity
  readonly loss: Loss
  /** Its disk holds data of its persistence. */
  readonly onDisk: boolean
  /** The server wants this very process ended: another shard can take its place. */
  readonly ordered: boolean
  /** One that loses nothing is killed when it has done nothing for this long. */
  readonly hungAfterMs: number
  /** The same for any other. */
  readonly primaryHungAfterMs: number
}

/**
 * `hung`: it has done nothing for too long, and the server or a person has to decide about it. `isLong`: people are told of it. An engine may be slow at
 * times.
 */
export type SilentVerdict =
  | { readonly kind: 'kill'; readonly why: string }
  | { readonly kind: 'leave'; readonly hung: boolean; readonly isLong: boolean; readonly why: string }

/**
 * Decides about a process that does not answer. A busy one is left alone, however long it takes. One that
 * does nothing is killed by this node only if the node knows that nothing is lost, or that its data come back
 * from its disk. Only the server knows what other shards of the group hold; only a person may give up the
 * only copy in memory.
 */
export function decideSilent(silence: Silence): SilentVerdict {
  const { forMs, activity, loss, ordered, hungAfterMs, primaryHungAfterMs, pid } = silence
  const said = `has not answered for ${seconds(forMs)}`
  const { doing, idleMs } = activity
  const does = doing === 'stopped' ? stoppedWords(pid) : words[doing]
  const leave = {
    kind: 'leave',
    hung: false,
    isLong: forMs >= TOLD_AFTER_MS,
    why: `${said}: ${does}`,
  } as const
  if (doing === 'works' || doing === 'disk') return leave
  const limitMs = loss === 'nothing' ? hungAfterMs : primaryHungAfterMs
  if (idleMs < limitMs) return leave

  const killed = `did not answer PING for ${seconds(forMs)} while it did nothing, and was killed`
  switch (loss) {
    case 'nothing':
      return { kind: 'kill', why: killed }
    case 'unsaved':
      return { kind: 'kill', why: `${killed}; it starts again with what is on its disk` }
    case 'unknown':
      if (ordered) return { kind: 'kill', why: `${killed}, as the server ordered` }
      return {
        ...leave,
        hung: true,
        why: `${said}: ${does}; the server decides whether another shard takes its place (pid ${pid})`,
      }
    case 'everything':
      return {
        ...leave,
        hung: true,
        why: `${said}: ${does}; all data of the database would end with it, so a person has to decide (pid ${pid}): kill -KILL ${pid} gives that data up; see docs/explain/busy-and-hung.md`,
      }
  }
}

const words: { readonly [Each in Exclude<Doing, 'stopped'>]: string } = {
  works: 'it is busy',
  disk: 'it waits for its disk',
  idle: 'it does nothing',
}

/** With what a person can do about it. */
function stoppedWords(pid: number): string {
  return `it was stopped by a signal (kill -CONT ${pid} lets it go on), or by a debugger`
}

/** A busy engine is sometimes slower than this: not worth a message. */
const TOLD_AFTER_MS = 1_000

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`
}
