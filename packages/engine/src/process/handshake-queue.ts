import type { Socket } from 'node:net'

/** Connections whose handshake has not ended. */
export interface HandshakeQueue {
  /** `begin` is called when it is its turn. One that closes leaves by itself. */
  add(socket: Socket, source: string, begin: () => void): void
  /** Its handshake is over. */
  end(socket: Socket): void
}

/**
 * Half a millisecond of processor time each: a thousand that begin at one moment would keep the server from all other work for half a second. A
 * client can put that time off to a later message, so their number at once is bounded, too.
 */
const AT_ONCE = 16
/** Of one source: the others find places, however many from there do not end theirs. */
const PART_OF_ONE = 3 / 4
/** Of the sources from which a user has signed in, together; the same for all others. */
const PART_OF_KIND = 5 / 6
/** A client on the other side of the world needs a third of a second. */
const HOLD_MS = 1_000
/** So many have given their places to others, and may still end: the engines' benchmark ends some of its handshakes only when it has ended those before them. */
const MOST_LATE = 32

interface Limits {
  readonly atOnce?: number
  readonly holdMs?: number
  readonly mostLate?: number
  /** Whether a user has signed in from there lately. */
  readonly isKnown?: (source: string) => boolean
}

const DEFAULTS: Required<Limits> = {
  ...{ atOnce: AT_ONCE, holdMs: HOLD_MS, mostLate: MOST_LATE },
  isKnown: () => false,
}

/**
 * Begins one handshake in a round of the event loop, and no more than `atOnce` are under way, three quarters of them from one source. Sources take turns; of one source the newest and
 * the oldest go first, each in half of its places: the others may be there only to be in the way of the newest, and a client may finish its handshakes one
 * after the other, in their order, while it has begun all (the engines' benchmark). The known sources and all others take turns, and each of the two kinds leaves places to the other: an attacker may have
 * thousands of addresses. One that has taken `holdMs` gives its place to another one that waits for it; of those that are late in this way
 * the oldest is closed when there are more than `mostLate`.
 */
export function createHandshakeQueue(limits: Limits = {}): HandshakeQueue {
  const { atOnce, holdMs, mostLate, isKnown } = { ...DEFAULTS, ...limits }
  const waiting = createKinds()
  const running = new Map<Socket, Running>()
  /** The last one to give its place away is last. */
  const late = new Set<Socket>()
  let isDue = false

  const look = (): void => {
    if (isDue || waiting.size() === 0) return
    if (!waiting.some(judgeBy(running.values(), atOnce))) {
      passOnPlace()
      return
    }
    isDue = true
    setImmediate(() => {
      isDue = false
      const next = waiting.take(judgeBy(running.values(), atOnce))
      if (next !== undefined) run(next)
      look()
    })
  }
  const run = ({ one: { socket, source, begin }, kind, isNewest }: Taken): void => {
    const timer = setTimeout(look, holdMs + 1).unref()
    running.set(socket, { source, kind, isNewest, sinceMs: performance.now(), timer })
    begin()
  }
  /** The oldest whose place another one can have. */
  const passOnPlace = (): void => {
    for (const [socket, held] of running) {
      if (performance.now() - held.sinceMs < holdMs) return
      const others = [...running.values()].filter((each) => each !== held)
      if (!waiting.some(judgeBy(others, atOnce))) continue
      late.add(socket)
      leave(socket)
      const [oldest] = late
      if (late.size > mostLate) oldest?.destroy()
      return
    }
  }
  const leave = (socket: Socket): void => {
    clearTimeout(running.get(socket)?.timer)
    running.delete(socket)
    look()
  }
  const end = (socket: Socket): void => {
    late.delete(socket)
    leave(socket)
  }
  return {
    end,
    add(socket, source, begin) {
      const line = waiting.of(isKnown(source) ? 'known' : 'other')
      socket.once('close', () => {
        line.remove(source)
        end(socket)
      })
      line.add({ socket, source, begin })
      look()
    },
  }
}

type Kind = 'known' | 'other'

interface Running {
  readonly source: string
  readonly kind: Kind
  /** It was the newest that waited, and not the oldest. */
  readonly isNewest: boolean
  readonly sinceMs: number
  readonly timer: NodeJS.Timeout
}

type Judge = ReturnType<typeof judgeBy>

/** By those that are under way. */
function judgeBy(running: Iterable<Running>, atOnce: number) {
  const all = [...running]
  const ofOne = Math.ceil(atOnce * PART_OF_ONE)
  const ofKind = Math.ceil(atOnce * PART_OF_KIND)
  const ownOf = (source: string) => all.filter((each) => each.source === source)
  return {
    hasRoom: (kind: Kind) => all.length < atOnce && all.filter((each) => each.kind === kind).length < ofKind,
    hasPart: (source: string) => ownOf(source).length < ofOne,
    wantsNewest(source: string) {
      const own = ownOf(source)
      return own.filter(({ isNewest }) => isNewest).length <= own.length / 2
    },
  }
}

interface Waiting {
  readonly socket: Socket
  readonly source: string
  readonly begin: () => void
}

interface Taken {
  readonly one: Waiting
  readonly kind: Kind
  readonly isNewest: boolean
}

/** Those of one source, the newest last, the oldest at `from`; some `left` meanwhile and are taken out together: to look for each would take time. */
interface Line {
  all: Waiting[]
  from: number
  left: number
}

/** By kind of source. That whose turn comes next is first. */
function createKinds() {
  const lines = { known: createWaiting(), other: createWaiting() }
  let order: readonly Kind[] = ['known', 'other']
  const next = ({ hasRoom, hasPart }: Judge) => {
    for (const kind of order) {
      const source = hasRoom(kind) ? lines[kind].first(hasPart) : undefined
      if (source !== undefined) return { kind, source }
    }
    return undefined
  }
  return {
    of: (kind: Kind) => lines[kind],
    size: () => lines.known.size() + lines.other.size(),
    some: (judge: Judge) => next(judge) !== undefined,
    take(judge: Judge): Taken | undefined {
      const found = next(judge)
      if (found === undefined) return undefined
      const { kind, source } = found
      order = kind === 'known' ? ['other', 'known'] : ['known', 'other']
      const isNewest = judge.wantsNewest(source)
      const one = lines[kind].take(source, isNewest)
      return one && { one, kind, isNewest }
    },
  }
}

/** By source: the one whose turn comes next is first. */
function createWaiting() {
  const sources = new Map<string, Line>()
  return {
    size: () => sources.size,
    first(hasPart: Judge['hasPart']): string | undefined {
      for (const source of sources.keys()) if (hasPart(source)) return source
      return undefined
    },
    add(one: Waiting) {
      const { source } = one
      const line = sources.get(source) ?? { all: [], from: 0, left: 0 }
      line.all.push(one)
      sources.set(source, line)
    },
    /** One of it has closed, which may have been taken already. */
    remove(source: string) {
      const line = sources.get(source)
      if (line === undefined) return
      line.left += 1
      if (line.left <= (line.all.length - line.from) / 2) return
      line.all = line.all.slice(line.from).filter(({ socket }) => !socket.destroyed)
      line.from = 0
      line.left = 0
      if (line.all.length === 0) sources.delete(source)
    },
    take(source: string, isNewest: boolean): Waiting | undefined {
      const line = sources.get(source)
      if (line === undefined) return undefined
      sources.delete(source)
      let one = takeOne(line, isNewest)
      while (one?.socket.destroyed === true) one = takeOne(line, isNewest)
      if (line.all.length > 0) sources.set(source, line)
      return one
    },
  }
}

function takeOne(line: Line, isNewest: boolean): Waiting | undefined {
  const one = isNewest ? line.all.pop() : line.all[line.from]
  if (!isNewest) line.from += 1
  // Those before are let go together: to move the others for each would take time.
  if (line.from * 2 >= line.all.length) {
    line.all.splice(0, line.from)
    line.from = 0
  }
  return one
}
