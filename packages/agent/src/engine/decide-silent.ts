import type { Activity, ActivityKind } from '../process/watch-activity.ts'

/**
 * Loss if a process ends now, as known by this node:
 * - `nothing`: it has never answered, or it follows a primary that serves;
 * - `unsaved`: it is alone, and the data on its disk return;
 * - `everything`: it is alone, and nothing is on its disk;
 * - `unknown`: its group has other shards, and only the server knows their data.
 */
export type Loss = 'nothing' | 'unsaved' | 'everything' | 'unknown'

/** A process that does not answer. Times in ms. */
export interface Silence {
  readonly pid: number
  /** Since its first unanswered question. */
  readonly forMs: number
  readonly activity: Activity
  readonly loss: Loss
  /** True if its persistence has data on disk. */
  readonly onDisk: boolean
  /** True if the server wants this process ended: another shard can take its place. */
  readonly ordered: boolean
  /** A process without loss is killed when it has done nothing for this long. */
  readonly hungAfterMs: number
  /** The same for any other process. */
  readonly primaryHungAfterMs: number
}

/**
 * `hung`: it has done nothing for too long; the server or a person must decide. `isLong`: worth a message,
 * since an engine can be slow.
 */
export type SilentVerdict =
  | { readonly kind: 'kill'; readonly why: string }
  | { readonly kind: 'leave'; readonly hung: boolean; readonly isLong: boolean; readonly why: string }

/**
 * Decides about a process that does not answer. A busy one is left alone, however long it takes. An idle one
 * is killed by this node only if nothing is lost, or its data return from its disk: only the server knows the
 * data of other shards of the group, and only a person may give up the only copy in memory.
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

const words: { readonly [Each in Exclude<ActivityKind, 'stopped'>]: string } = {
  works: 'it is busy',
  disk: 'it waits for its disk',
  idle: 'it does nothing',
}

/** Describes it, with advice for a person. */
function stoppedWords(pid: number): string {
  return `it was stopped by a signal (kill -CONT ${pid} lets it go on), or by a debugger`
}

/** A busy engine is sometimes slower than this, which needs no message. */
const TOLD_AFTER_MS = 1_000

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`
}
