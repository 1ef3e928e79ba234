import { Refusal } from '../contract/errors.ts'

/** Databases are divided into so many parts, by their uid: servers share them part by part, and each part has an epoch. */
export const BUCKETS = 256
/** Under which epoch a request is made, as `<bucket>:<epoch>`. Agents and proxies keep to the highest that they have seen. */
export const EPOCH_HEADER = 'fairlead-epoch'

/**
 * The right of a server to work on the databases of one bucket. Each server that takes the bucket over has a higher epoch than the
 * one before, which may not know that it has been replaced.
 */
export interface Epoch {
  /** From 0 to 255: the uid of a database modulo 256. */
  readonly bucket: number
  /** From 1. */
  readonly epoch: number
}

/** By bucket, the highest epoch, as it is on disk. */
export type KeptEpochs = Readonly<Record<string, number>>

/** What refuses servers that have been replaced. */
export interface EpochFence {
  /**
   * Resolves when no request with a lower epoch of the bucket can be admitted any more, also by the next process. Throws Refusal stale_epoch
   * for a lower one, and what `keep` throws.
   */
  admit(epoch: Epoch): Promise<void>
  /** An order without an epoch comes from a server that knows of none. Throws Refusal stale_epoch once a server has come that does. */
  admitUnnamed(): void
}

const FIRST = 1

/** As the header names it. */
export function printEpoch({ bucket, epoch }: Epoch): string {
  return `${bucket}:${epoch}`
}

/** Throws Refusal invalid_request for what is none. */
export function readEpoch(header: string): Epoch {
  const [, bucket, epoch] = /^(\d{1,3}):([1-9]\d{0,14})$/.exec(header) ?? []
  if (bucket === undefined || epoch === undefined || Number(bucket) >= BUCKETS)
    throw new Refusal('invalid_request', 'the header Fairlead-Epoch has to be <bucket>:<epoch>')
  return { bucket: Number(bucket), epoch: Number(epoch) }
}

/** The epochs in the text of a file; null: it holds something else. */
export function readKeptEpochs(text: string): KeptEpochs | null {
  try {
    const found: unknown = JSON.parse(text)
    if (typeof found !== 'object' || found === null || Array.isArray(found)) return null
    for (const [bucket, epoch] of Object.entries(found)) readEpoch(`${bucket}:${String(epoch)}`)
    return found as KeptEpochs
  } catch {
    return null
  }
}

/**
 * Begins with what was kept before. `keep` writes all of it to disk, durably; it is not called again before it has ended. `onRaise` is
 * called when a bucket has a higher epoch, before that is admitted: what was let through for a lower one is to end there.
 */
export function createEpochFence(
  kept: KeptEpochs,
  keep: (epochs: KeptEpochs) => Promise<void>,
  onRaise: (epoch: Epoch) => void = () => undefined,
): EpochFence {
  const highest = new Map(Object.entries(kept).map(([bucket, epoch]) => [Number(bucket), epoch]))
  let durable: ReadonlyMap<number, number> = new Map(highest)
  const save = createSaves(async () => {
    const now = new Map(highest)
    await keep(Object.fromEntries(now))
    durable = now
  })
  const refuseStale = ({ bucket, epoch }: Epoch) => {
    const known = highest.get(bucket) ?? FIRST
    if (epoch < known)
      throw new Refusal(
        'stale_epoch',
        `bucket ${bucket} is held under epoch ${known}; this request has epoch ${epoch}`,
      )
    return known
  }
  return {
    async admit(epoch) {
      if (epoch.epoch > refuseStale(epoch)) {
        highest.set(epoch.bucket, epoch.epoch)
        onRaise(epoch)
      }
      if ((durable.get(epoch.bucket) ?? FIRST) >= epoch.epoch) return
      await save()
      // A higher epoch may have come while the file was written.
      refuseStale(epoch)
    },
    admitUnnamed() {
      if ([...highest.values()].some((epoch) => epoch > FIRST))
        throw new Refusal('stale_epoch', 'several servers share the work here: an order needs an epoch')
    },
  }
}

/** One `save` at a time. A caller waits for a save that begins after its call; callers that wait at the same time share one. */
function createSaves(save: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> = Promise.resolve()
  let next: Promise<void> | null = null
  return () => {
    next ??= running
      .catch(() => undefined)
      .then(() => {
        next = null
        running = save()
        return running
      })
    return next
  }
}
