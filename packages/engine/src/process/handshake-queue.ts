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
/** A client on the other side of the world needs a third of a second. */
const HOLD_MS = 1_000

interface Limits {
  readonly atOnce?: number
  readonly holdMs?: number
}

/**
 * Begins one handshake in a round of the event loop, and no more than `atOnce` are under way, three quarters of them from one source. Sources take turns; of one source the newest goes
 * first, because the others may be there only to be in its way. One that has taken `holdMs` is closed as soon as another one waits for its place.
 */
export function createHandshakeQueue({ atOnce = AT_ONCE, holdMs = HOLD_MS }: Limits = {}): HandshakeQueue {
  const waiting = createWaiting()
  const running = new Map<Socket, Running>()
  const ofOne = Math.ceil(atOnce * PART_OF_ONE)
  let isDue = false
  const hasPart = (source: string): boolean => {
    let own = 0
    for (const each of running.values()) if (each.source === source) own += 1
    return own < ofOne
  }
  const mayBegin = (source: string) => running.size < atOnce && hasPart(source)

  const look = (): void => {
    if (isDue || waiting.size() === 0) return
    if (!waiting.some(mayBegin)) {
      endOverdue()
      return
    }
    isDue = true
    setImmediate(() => {
      isDue = false
      const next = waiting.take(mayBegin)
      if (next !== undefined) run(next)
      look()
    })
  }
  const run = ({ socket, source, begin }: Waiting): void => {
    const timer = setTimeout(look, holdMs + 1).unref()
    running.set(socket, { source, sinceMs: performance.now(), timer })
    begin()
  }
  /** The oldest whose place another one can have. */
  const endOverdue = (): void => {
    const isFull = waiting.some(hasPart)
    for (const [socket, { source, sinceMs }] of running) {
      if (performance.now() - sinceMs < holdMs) return
      if (!isFull && !waiting.has(source)) continue
      socket.destroy()
      return
    }
  }
  const end = (socket: Socket): void => {
    clearTimeout(running.get(socket)?.timer)
    running.delete(socket)
    look()
  }
  return {
    end,
    add(socket, source, begin) {
      socket.once('close', () => {
        waiting.remove(source)
        end(socket)
      })
      waiting.add({ socket, source, begin })
      look()
    },
  }
}

interface Running {
  readonly source: string
  readonly sinceMs: number
  readonly timer: NodeJS.Timeout
}

interface Waiting {
  readonly socket: Socket
  readonly source: string
  readonly begin: () => void
}

/** Those of one source, the newest last; some `left` meanwhile and are taken out together: to look for each would take time. */
interface Line {
  all: Waiting[]
  left: number
}

/** By source: the one whose turn comes next is first. */
function createWaiting() {
  const sources = new Map<string, Line>()
  const first = (mayBegin: (source: string) => boolean): string | undefined => {
    for (const source of sources.keys()) if (mayBegin(source)) return source
    return undefined
  }
  return {
    size: () => sources.size,
    has: (source: string) => sources.has(source),
    some: (mayBegin: (source: string) => boolean) => first(mayBegin) !== undefined,
    add(one: Waiting) {
      const { source } = one
      const line = sources.get(source) ?? { all: [], left: 0 }
      line.all.push(one)
      sources.set(source, line)
    },
    /** One of it has closed, which may have been taken already. */
    remove(source: string) {
      const line = sources.get(source)
      if (line === undefined) return
      line.left += 1
      if (line.left <= line.all.length / 2) return
      line.all = line.all.filter(({ socket }) => !socket.destroyed)
      line.left = 0
      if (line.all.length === 0) sources.delete(source)
    },
    take(mayBegin: (source: string) => boolean): Waiting | undefined {
      const source = first(mayBegin)
      const line = source === undefined ? undefined : sources.get(source)
      if (source === undefined || line === undefined) return undefined
      sources.delete(source)
      let newest = line.all.pop()
      while (newest?.socket.destroyed === true) newest = line.all.pop()
      if (line.all.length > 0) sources.set(source, line)
      return newest
    },
  }
}
