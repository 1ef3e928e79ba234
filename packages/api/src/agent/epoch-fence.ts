import { Refusal } from '../contract/errors.ts'

/** Parts of the databases, by uid. Servers share the parts; each has an epoch. */
export const BUCKETS = 256
/**
 * The epoch of a request, as `<bucket>:<epoch>`. Agents and proxies refuse lower ones than they have seen.
 */
export const EPOCH_HEADER = 'fairlead-epoch'

/**
 * The right to work on the databases of one bucket. Each new holder has a higher epoch than the previous one,
 * which may not know that it was replaced.
 */
export interface Epoch {
  /** From 0 to 255: the uid of a database modulo 256. */
  readonly bucket: number
  /** From 1. */
  readonly epoch: number
}

/** The highest epoch of each bucket on disk. */
export type KeptEpochs = Readonly<Record<string, number>>

/** Refuses servers that have been replaced. */
export interface EpochFence {
  /**
   * Resolves when no lower epoch of the bucket can be admitted any more, even by the next process. Throws
   * Refusal stale_epoch, and errors of `keep`.
   */
  admit(epoch: Epoch): Promise<void>
  /** Admits an order without an epoch, from an older server. Throws Refusal stale_epoch after epochs came. */
  admitUnnamed(): void
}

const FIRST = 1

/** Formats an epoch for the header. */
export function printEpoch({ bucket, epoch }: Epoch): string {
  return `${bucket}:${epoch}`
}

/** Parses the header. Throws Refusal invalid_request. */
export function readEpoch(header: string): Epoch {
  const [, bucket, epoch] = /^(\d{1,3}):([1-9]\d{0,14})$/.exec(header) ?? []
  if (bucket === undefined || epoch === undefined || Number(bucket) >= BUCKETS)
    throw new Refusal('invalid_request', 'the header Fairlead-Epoch has to be <bucket>:<epoch>')
  return { bucket: Number(bucket), epoch: Number(epoch) }
}

/** Parses a file of epochs; null: other content. */
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
 * Creates a fence. `keep` writes all epochs durably, never twice at a time. `onRaise` is called before a
 * higher epoch is admitted, to end work under a lower one.
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

/** Runs one `save` at a time. Each caller waits for a save that begins after its call, shared if possible. */
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
