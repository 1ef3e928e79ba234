import { createHash, randomUUID } from 'node:crypto'
import { type Changes, createDigest, type ProxyState, type SeenOffset } from '@fairlead/api'

/** Numbered results of looks at shards and proxy, for listeners. */
export interface ChangeLog extends Disposable {
  /** A different `state` is a change. `isStart`: its process is starting, which may be reported later. */
  shard(id: string, state: string, isStart?: boolean): void
  gone(id: string): void
  /** Call when the stream of a primary has grown by writes. */
  offset(seen: SeenOffset): void
  proxy(state: ProxyState): void
  /** Returns the news after `after` of this `boot`, as soon as there are any, after `waitMs` or on abort. */
  await(
    asked: { readonly boot: string; readonly after: number; readonly waitMs: number },
    signal?: AbortSignal,
  ): Promise<Changes>
}

/**
 * Delay of news by kind. Simultaneous changes, like a primary's death and its replicas' reaction, are
 * reported together. A start is reported with its end if that comes soon, because the server that ordered it
 * waits for the end; offsets are only recorded.
 */
const TOLD_AFTER_MS = { change: 20, start: 250, offset: 1_000 } as const
type News = keyof typeof TOLD_AFTER_MS
/** Number of removed shards that are remembered; a listener that has missed more gets everything. */
const MOST_GONE = 1_000

interface Entry {
  readonly state: string
  readonly mark: string
  readonly seq: number
}

interface Reported {
  readonly shards: ReadonlyMap<string, Entry>
  /** Number of each removal. */
  readonly gone: ReadonlyMap<string, number>
  readonly offsets: ReadonlyMap<string, SeenOffset & { readonly seq: number }>
}

/** Creates an empty log with a new boot. */
export function createChangeLog(proxy: ProxyState): ChangeLog {
  const boot = randomUUID()
  const marked = keepMarks()
  const { shards } = marked
  const gone = new Map<string, number>()
  const offsets = new Map<string, SeenOffset & { readonly seq: number }>()
  const latest = { seq: 1, proxy, proxySeq: 1, shardSeq: 0, startSeq: 0, offsetSeq: 0, forgotten: 0 }
  const waiting = new Set<Hear>()

  const tell = (news: News) => {
    for (const hear of waiting) hear(news)
  }
  const since = (after: number): Changes => {
    const all = after === 0 || after < latest.forgotten
    const [from, { seq, proxy: state }] = [all ? 0 : after, latest]
    return {
      boot,
      seq,
      all,
      proxy: state,
      digest: marked.digest(),
      ...listSince(from, { shards, gone, offsets }),
    }
  }
  const isTold = (after: number) =>
    after > 0 && after >= Math.max(latest.proxySeq, latest.shardSeq, latest.forgotten)

  return {
    shard(id, state, isStart = false) {
      if (shards.get(id)?.state === state) return
      latest.seq += 1
      latest[isStart ? 'startSeq' : 'shardSeq'] = latest.seq
      const mark = createHash('sha1').update(`${id} ${state}`).digest('hex').slice(0, 12)
      marked.set(id, { state, mark, seq: latest.seq })
      gone.delete(id)
      tell(isStart ? 'start' : 'change')
    },
    gone(id) {
      offsets.delete(id)
      if (!marked.delete(id)) return
      latest.seq += 1
      latest.shardSeq = latest.seq
      gone.set(id, latest.seq)
      latest.forgotten = forgetOldest(gone) ?? latest.forgotten
      tell('change')
    },
    offset(seen) {
      latest.seq += 1
      latest.offsetSeq = latest.seq
      offsets.set(seen.id, { ...seen, seq: latest.seq })
      tell('offset')
    },
    proxy(state) {
      if (JSON.stringify(state) === JSON.stringify(latest.proxy)) return
      latest.seq += 1
      Object.assign(latest, { proxy: state, proxySeq: latest.seq })
      tell('change')
    },
    async await({ boot: known, after: asked, waitMs }, signal) {
      const after = known === boot ? asked : 0
      if (isTold(after)) await untilHeard(waiting, { waitMs, isNew: whatIsNew(latest, after) }, signal)
      return since(after)
    },
    [Symbol.dispose]: () => tell('change'),
  }
}

/** If too many are remembered, forgets the oldest and returns its number. */
function forgetOldest(gone: Map<string, number>): number | undefined {
  const [oldest] = gone
  if (gone.size <= MOST_GONE || oldest === undefined) return undefined
  gone.delete(oldest[0])
  return oldest[1]
}

/** Keeps the last state of each shard, with the digest of all marks. */
function keepMarks() {
  const shards = new Map<string, Entry>()
  const digest = createDigest()
  const drop = (id: string) => {
    const before = shards.get(id)
    if (before !== undefined) digest.toggle(before.mark)
    return shards.delete(id)
  }
  return {
    shards: shards as ReadonlyMap<string, Entry>,
    digest: digest.text,
    set(id: string, entry: Entry) {
      drop(id)
      digest.toggle(entry.mark)
      shards.set(id, entry)
    },
    delete: drop,
  }
}

/** Returns the news after that number. */
function listSince(
  after: number,
  { shards, gone, offsets }: Reported,
): Pick<Changes, 'shards' | 'gone' | 'offsets'> {
  const isNew = ({ seq }: { readonly seq: number }) => seq > after
  return {
    shards: [...shards].filter(([, entry]) => isNew(entry)).map(([id, { mark }]) => ({ id, mark })),
    gone: [...gone].filter(([, seq]) => isNew({ seq })).map(([id]) => id),
    offsets: [...offsets.values()].filter(isNew).map(({ seq: _, ...seen }) => seen),
  }
}

/** Returns which delayed kinds have news. */
function whatIsNew(
  { startSeq, offsetSeq }: { readonly startSeq: number; readonly offsetSeq: number },
  after: number,
): Readonly<Record<'start' | 'offset', boolean>> {
  return { start: startSeq > after, offset: offsetSeq > after }
}

type Hear = (news: News) => void

/** Resolves shortly after a change; later if there are only starts or offsets. */
async function untilHeard(
  waiting: Set<Hear>,
  {
    waitMs,
    isNew,
  }: { readonly waitMs: number; readonly isNew: Readonly<Record<'start' | 'offset', boolean>> },
  signal: AbortSignal | undefined,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const end = () => resolve()
  const timers = [setTimeout(end, waitMs)]
  const beganAt = performance.now()
  const heard = new Set<News>()
  const hear = (news: News) => {
    if (heard.has(news)) return
    heard.add(news)
    // There was no offset since the last report, which would have contained it.
    const sinceMs = news === 'offset' ? performance.now() - beganAt : 0
    timers.push(setTimeout(end, Math.max(0, TOLD_AFTER_MS[news] - sinceMs)))
  }
  if (isNew.start) hear('start')
  if (isNew.offset) hear('offset')
  waiting.add(hear)
  signal?.addEventListener('abort', end, { once: true })
  await promise
  waiting.delete(hear)
  signal?.removeEventListener('abort', end)
  for (const timer of timers) clearTimeout(timer)
}
