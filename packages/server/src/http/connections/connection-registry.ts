import type { Socket } from 'node:net'

/** Connections by their source or user: how many each has, and which of them may be closed to make room for another one. */
export interface ConnectionRegistry {
  readonly size: number
  count(whose: string): number
  add(whose: string, socket: Socket): void
  /** There is nothing to do for this connection: it may be closed. Ignores a connection that is not registered. */
  wait(whose: string, socket: Socket): void
  /** It is being served, so it is not closed until it waits again. */
  serve(whose: string, socket: Socket): void
  remove(whose: string, socket: Socket): void
  /** The connections of one source or user that may be closed, the oldest first. Some of them have sent a complete request since. */
  waiting(whose: string): Iterable<Socket>
  /** All connections that may be closed, those of the source or user with the most connections first. */
  allWaiting(): Iterable<Socket>
}

interface Connections {
  readonly sockets: Set<Socket>
  readonly waiting: Set<Socket>
}

/** An empty one. */
export function createConnectionRegistry(): ConnectionRegistry {
  const all = new Map<string, Connections>()
  let size = 0
  return {
    get size() {
      return size
    },
    count: (whose) => all.get(whose)?.sockets.size ?? 0,
    add(whose, socket) {
      const connections = all.get(whose) ?? { sockets: new Set(), waiting: new Set() }
      all.set(whose, connections)
      connections.sockets.add(socket)
      size += 1
    },
    wait(whose, socket) {
      const connections = all.get(whose)
      if (connections?.sockets.has(socket) === true) connections.waiting.add(socket)
    },
    serve: (whose, socket) => void all.get(whose)?.waiting.delete(socket),
    remove(whose, socket) {
      const connections = all.get(whose)
      if (connections?.sockets.delete(socket) !== true) return
      connections.waiting.delete(socket)
      size -= 1
      if (connections.sockets.size === 0) all.delete(whose)
    },
    waiting: (whose) => all.get(whose)?.waiting ?? [],
    *allWaiting() {
      // Nearly always the first that is tried makes room: to sort all of them would cost more than the connection does.
      const [largest] = [...all.values()].reduce<readonly Connections[]>(
        ([most], each) => [most === undefined || each.sockets.size > most.sockets.size ? each : most],
        [],
      )
      if (largest !== undefined) yield* largest.waiting
      for (const connections of all.values()) yield* connections.waiting
    },
  }
}
