import type { Socket } from 'node:net'

/** Connections whose handshake has not ended. */
export interface HandshakeQueue {
  /** `begin` is called for it when it is its turn. One that closes leaves by itself. */
  add(socket: Socket): void
  /** Its handshake is over. */
  end(socket: Socket): void
}

/**
 * Half a millisecond of processor time each: a thousand that begin at one moment would keep the server from all other work for half a second. A
 * client can put that time off to a later message, so their number at once is bounded, too.
 */
const AT_ONCE = 16
/** A client on the other side of the world needs a third of a second. */
const HOLD_MS = 1_000

interface Deps {
  readonly begin: (socket: Socket) => void
  readonly sourceOf: (socket: Socket) => string
  readonly atOnce?: number
  readonly holdMs?: number
}

/**
 * Begins one handshake in a round of the event loop, and no more than `atOnce` are under way. Sources take turns; of one source the newest goes
 * first, because the others may be there only to be in its way. One that has taken `holdMs` is closed as soon as another one waits for its place.
 */
export function createHandshakeQueue(deps: Deps): HandshakeQueue {
  const { begin, sourceOf, atOnce = AT_ONCE, holdMs = HOLD_MS } = deps
  const waiting = createWaiting()
  const running = new Map<Socket, { readonly sinceMs: number; readonly timer: NodeJS.Timeout }>()
  let isDue = false

  const look = (): void => {
    if (isDue || waiting.size() === 0) return
    if (running.size >= atOnce) {
      endOverdue()
      return
    }
    isDue = true
    setImmediate(() => {
      isDue = false
      const socket = waiting.take()
      if (socket !== undefined) run(socket)
      look()
    })
  }
  const run = (socket: Socket): void => {
    running.set(socket, { sinceMs: performance.now(), timer: setTimeout(look, holdMs + 1).unref() })
    begin(socket)
  }
  /** The first is the oldest. */
  const endOverdue = (): void => {
    for (const [socket, { sinceMs }] of running) {
      if (performance.now() - sinceMs >= holdMs) socket.destroy()
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
    add(socket) {
      const source = sourceOf(socket)
      socket.once('close', () => {
        waiting.remove(source)
        end(socket)
      })
      waiting.add(source, socket)
      look()
    },
  }
}

/** By source: the one whose turn comes next is first. */
function createWaiting() {
  const sources = new Map<string, Line>()
  return {
    size: () => sources.size,
    add(source: string, socket: Socket) {
      const line = sources.get(source) ?? { sockets: [], left: 0 }
      line.sockets.push(socket)
      sources.set(source, line)
    },
    /** One that was taken already may be removed, too. */
    remove(source: string) {
      const line = sources.get(source)
      if (line === undefined) return
      line.left += 1
      if (line.left <= line.sockets.length / 2) return
      line.sockets = line.sockets.filter(({ destroyed }) => !destroyed)
      line.left = 0
      if (line.sockets.length === 0) sources.delete(source)
    },
    take(): Socket | undefined {
      const [first] = sources
      if (first === undefined) return undefined
      const [source, line] = first
      sources.delete(source)
      let newest = line.sockets.pop()
      while (newest?.destroyed === true) newest = line.sockets.pop()
      if (line.sockets.length > 0) sources.set(source, line)
      return newest
    },
  }
}

/** Those of one source, the newest last; some `left` meanwhile and are taken out together: to look for each would take time. */
interface Line {
  sockets: Socket[]
  left: number
}
