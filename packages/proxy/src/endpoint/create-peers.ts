import { createMutex } from '@fairlead/engine'
import type { Allowance } from '../connection/allowance.ts'
import { inTurn, nextTurnOf } from '../forwarding/turns.ts'
import { fieldsOf, fits, lineOf } from '../listen/client-line.ts'
import type { ConnectedClient } from '../listen/list-clients.ts'
import { freshState, userOf } from '../remembered/connection-state.ts'
import type { Found, FoundClient, PeerQuery, Peers } from '../remembered/peers.ts'

/** Clients searched in one turn: a line takes some microseconds. */
const AT_ONCE = 32

interface Own {
  readonly clients: () => Iterable<ConnectedClient>
  readonly allowance: Allowance
  /** Ends the client's connection, after what it was sent. */
  readonly end: (client: ConnectedClient, why: string) => void
}

/** Creates the part of this thread. */
export function createOwnPeers({ clients, allowance, end }: Own): Peers {
  // One list at a time: thousands of clients may ask for lists of megabytes.
  const runExclusive = createMutex()
  const search = async (query: PeerQuery) => {
    const found: FoundClient[] = []
    let looked = 0
    for (const client of clients()) {
      looked += 1
      if (looked % AT_ONCE === 0) await nextTurnOf(allowance, 'lists clients for', client.visitor.crumb)
      const one = findOne(client, query)
      if (one !== undefined) found.push(one)
    }
    return { clients: found }
  }
  return {
    find: (query) => runExclusive(() => search(query)),
    end(ids, why) {
      const wanted = new Set(ids)
      if (wanted.size === 0) return
      for (const client of clients())
        if (wanted.has(client.visitor.id))
          inTurn(allowance, 'ends the connection of', client.visitor.crumb, () => end(client, why))
    },
  }
}

function findOne(client: ConnectedClient, query: PeerQuery): FoundClient | undefined {
  const { user, asker, selection } = query
  const { visitor, connections, state = freshState } = client
  const isAsker = visitor.id === asker
  if (isAsker ? selection.skipsAsker : user === null || userOf(state) !== user) return undefined
  const known = fieldsOf(client, { ms: performance.now(), unixMs: Date.now() })
  const fields = isAsker ? { ...known, cmd: 'client|list' } : known
  if (!selection.filters.every((filter) => fits(fields, filter))) return undefined
  const engineId = connections.find(({ link }) => (link?.engineId ?? 0) > 0)?.link?.engineId ?? 0
  return { id: visitor.id, line: lineOf(fields), engineId }
}

/** Adds the clients of other threads. */
export function withOthers(own: Peers, others: Peers | undefined): Peers {
  if (others === undefined) return own
  return {
    async find(query) {
      const parts = await Promise.all([own.find(query), others.find(query)])
      return combineFound(parts)
    },
    end(ids, why) {
      own.end(ids, why)
      others.end(ids, why)
    },
  }
}

/** Combines what threads have found, oldest client first. */
export function combineFound(parts: readonly Found[]): Found {
  const error = parts.find((part) => part.error !== undefined)?.error
  const clients = parts.flatMap((part) => part.clients).toSorted((a, b) => a.id - b.id)
  return error === undefined ? { clients } : { clients, error }
}
