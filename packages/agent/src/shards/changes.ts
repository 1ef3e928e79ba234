import { createHash, randomUUID } from 'node:crypto'
import { type Changes, createDigest, type ProxyState, type SeenOffset } from '@fairlead/api'

/** What looks at shards and proxy have found out, numbered in order, for those that wait for it. */
export interface ChangeLog extends Disposable {
  /** `state` is text: another one is a change. */
  shard(id: string, state: string): void
  gone(id: string): void
  /** The stream of a primary has grown by writes. */
  offset(seen: SeenOffset): void
  proxy(state: ProxyState): void
  /** What came after `after` of this `boot`: as soon as there is something, and nothing after `waitMs`, or once `signal` is aborted. */
  await(
    asked: { readonly boot: string; readonly after: number; readonly waitMs: number },
    signal?: AbortSignal,
  ): Promise<Changes>
}

/** Changes at the same time are reported together: a primary that dies, and its replicas that notice. */
const GATHER_MS = 20
/** Offsets are for the record: they are not told sooner. */
const OFFSETS_EVERY_MS = 1_000
/** Of shards that are gone it is remembered for this many; a listener that has missed more is told everything. */
const MOST_GONE = 1_000

interface Entry {
  readonly state: string
  readonly mark: string
  readonly seq: number
}

interface Told {
  readonly shards: ReadonlyMap<string, Entry>
  /** Which number each had when it was gone. */
  readonly gone: ReadonlyMap<string, number>
  readonly offsets: ReadonlyMap<string, SeenOffset & { readonly seq: number }>
}

/** A log without an entry, with a boot of its own. */
export function createChangeLog(proxy: ProxyState): ChangeLog {
  const boot = randomUUID()
  const marked = keepMarks()
  const { shards } = marked
  const gone = new Map<string, number>()
  const offsets = new Map<string, SeenOffset & { readonly seq: number }>()
  const latest = { seq: 1, proxy, proxySeq: 1, shardSeq: 0, offsetSeq: 0, forgotten: 0 }
  const waiting = new Set<(isOffset: boolean) => void>()

  const tell = (isOffset = false) => {
    for (const hear of waiting) hear(isOffset)
  }
  const since = (after: number): Changes => {
    const all = after === 0 || after < latest.forgotten
    const [from, { seq, proxy: state }] = [all ? 0 : after, latest]
    return {
      ...{ boot, seq, all, proxy: state, digest: marked.digest() },
      ...listSince(from, { shards, gone, offsets }),
    }
  }
  const isTold = (after: number) =>
    after > 0 && after >= Math.max(latest.proxySeq, latest.shardSeq, latest.forgotten)

  return {
    shard(id, state) {
      if (shards.get(id)?.state === state) return
      latest.seq += 1
      latest.shardSeq = latest.seq
      const mark = createHash('sha1').update(`${id} ${state}`).digest('hex').slice(0, 12)
      marked.set(id, { state, mark, seq: latest.seq })
      gone.delete(id)
      tell()
    },
    gone(id) {
      offsets.delete(id)
      if (!marked.delete(id)) return
      latest.seq += 1
      latest.shardSeq = latest.seq
      gone.set(id, latest.seq)
      latest.forgotten = forgetOldest(gone) ?? latest.forgotten
      tell()
    },
    offset(seen) {
      latest.seq += 1
      latest.offsetSeq = latest.seq
      offsets.set(seen.id, { ...seen, seq: latest.seq })
      tell(true)
    },
    proxy(state) {
      if (JSON.stringify(state) === JSON.stringify(latest.proxy)) return
      latest.seq += 1
      Object.assign(latest, { proxy: state, proxySeq: latest.seq })
      tell()
    },
    async await({ boot: known, after: asked, waitMs }, signal) {
      const after = known === boot ? asked : 0
      if (isTold(after)) await untilHeard(waiting, { waitMs, hasOffsets: latest.offsetSeq > after }, signal)
      return since(after)
    },
    [Symbol.dispose]: () => tell(),
  }
}

/** Where more are remembered than are to be: the number of the oldest, which is forgotten. */
function forgetOldest(gone: Map<string, number>): number | undefined {
  const [oldest] = gone
  if (gone.size <= MOST_GONE || oldest === undefined) return undefined
  gone.delete(oldest[0])
  return oldest[1]
}

/** The last state of each shard, with the digest of all marks. */
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

/** What came after that number. */
function listSince(
  after: number,
  { shards, gone, offsets }: Told,
): Pick<Changes, 'shards' | 'gone' | 'offsets'> {
  const isNew = ({ seq }: { readonly seq: number }) => seq > after
  return {
    shards: [...shards].filter(([, entry]) => isNew(entry)).map(([id, { mark }]) => ({ id, mark })),
    gone: [...gone].filter(([, seq]) => isNew({ seq })).map(([id]) => id),
    offsets: [...offsets.values()].filter(isNew).map(({ seq: _, ...seen }) => seen),
  }
}

/** Resolves a moment after a change; of offsets alone, after a while. */
async function untilHeard(
  waiting: Set<(isOffset: boolean) => void>,
  { waitMs, hasOffsets }: { readonly waitMs: number; readonly hasOffsets: boolean },
  signal: AbortSignal | undefined,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const end = () => resolve()
  const timers = [setTimeout(end, waitMs)]
  const endIn = (ms: number) => void timers.push(setTimeout(end, ms))
  const beganAt = performance.now()
  let isEnding = false
  let hasOffset = hasOffsets
  if (hasOffset) endIn(OFFSETS_EVERY_MS)
  const hear = (isOffset: boolean) => {
    if (!isOffset && !isEnding) {
      isEnding = true
      endIn(GATHER_MS)
    }
    if (isOffset && !hasOffset) {
      hasOffset = true
      endIn(Math.max(0, beganAt + OFFSETS_EVERY_MS - performance.now()))
    }
  }
  waiting.add(hear)
  signal?.addEventListener('abort', end, { once: true })
  await promise
  waiting.delete(hear)
  signal?.removeEventListener('abort', end)
  for (const timer of timers) clearTimeout(timer)
}
