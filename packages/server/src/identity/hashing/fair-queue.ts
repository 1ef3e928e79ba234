import { Refusal } from '@fairlead/api'

/** The source that waits. Work of one source is done in its order; sources take turns. */
export interface Waiting {
  readonly source: string
  /** Its user is known from this source: such work comes first. */
  readonly known: boolean
}

export interface FairQueueLimits {
  readonly atOnce: number
  /** Of strangers. */
  readonly strangersAtOnce: number
  readonly waitingEach: number
  readonly waiting: number
}

/** Runs work now, or when its turn has come. Throws Refusal too_many_requests when too many wait. */
export type FairQueue = <T>(who: Waiting, work: () => Promise<T>) => Promise<T>

interface Entry {
  readonly start: () => void
  readonly drop: () => void
}
/** By source, in the order of their turns. */
type Lines = Map<string, Entry[]>

/** Strangers get at least every so manyeth turn. */
const STRANGERS_EVERY = 4

/**
 * Bounded work that some sources request in large numbers. A source with one request waits for one turn of
 * each other source, not for all their requests. When all places are taken, the longest line gives one up to
 * a shorter one.
 */
export function createFairQueue(limits: FairQueueLimits): FairQueue {
  const lines = { known: new Map() as Lines, strangers: new Map() as Lines }
  let running = { known: 0, strangers: 0 }
  let turns = 0

  const isFree = (kind: keyof typeof lines) =>
    running.known + running.strangers < limits.atOnce &&
    (kind === 'known' || running.strangers < limits.strangersAtOnce)
  const take = (kind: keyof typeof lines) => {
    running = { ...running, [kind]: running[kind] + 1 }
  }
  const next = () => {
    for (;;) {
      const strangersFirst = turns % STRANGERS_EVERY === STRANGERS_EVERY - 1
      const order = strangersFirst ? (['strangers', 'known'] as const) : (['known', 'strangers'] as const)
      const kind = order.find((one) => lines[one].size > 0 && isFree(one))
      if (kind === undefined) return
      turns += 1
      take(kind)
      shift(lines[kind])?.start()
    }
  }
  const wait = (kind: keyof typeof lines, source: string) => {
    const line = lines[kind].get(source) ?? []
    if (line.length >= limits.waitingEach || !makeRoom(lines, line.length, limits.waiting)) {
      throw new Refusal('too_many_requests')
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    line.push({ start: resolve, drop: () => reject(new Refusal('too_many_requests')) })
    lines[kind].set(source, line)
    return promise
  }

  return async ({ source, known }, work) => {
    const kind = known ? 'known' : 'strangers'
    if (isFree(kind) && lines[kind].size === 0) take(kind)
    else await wait(kind, source)
    try {
      return await work()
    } finally {
      running = { ...running, [kind]: running[kind] - 1 }
      next()
    }
  }
}

/** The first of the source whose turn it is, which then goes to the end of the turns. */
function shift(lines: Lines): Entry | undefined {
  for (const [source, line] of lines) {
    const entry = line.shift()
    lines.delete(source)
    if (line.length > 0) lines.set(source, line)
    return entry
  }
  return undefined
}

/** Refuses the last entry of the longest line, lines of unknown sources first, if that line stays longer than the one that grows. */
function makeRoom(
  { known, strangers }: { readonly known: Lines; readonly strangers: Lines },
  length: number,
  most: number,
): boolean {
  const all = [...strangers, ...known]
  if (all.reduce((sum, [, line]) => sum + line.length, 0) < most) return true
  for (const lines of [strangers, known]) {
    const [source, line] = [...lines].toSorted(([, a], [, b]) => b.length - a.length)[0] ?? ['', []]
    if (line.length <= length + 1) continue
    line.pop()?.drop()
    if (line.length === 0) lines.delete(source)
    return true
  }
  return false
}
