import type { Socket } from 'node:net'

/** Connections by whose they are: how many each has, and which of them may make room for another one. */
export interface ConnectionRegistry {
  readonly size: number
  count(whose: string): number
  add(whose: string, socket: Socket): void
  /** There is nothing to do for it: it may make room. Does nothing for one that is not there. */
  wait(whose: string, socket: Socket): void
  /** It is being served, so it makes no room until it waits again. */
  serve(whose: string, socket: Socket): void
  remove(whose: string, socket: Socket): void
  /** Those of one that may make room, the oldest first. Some of them have sent a whole request since. */
  waiting(whose: string): Iterable<Socket>
  /** Those of all that may make room, those of the source or user with the most connections first. */
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
