import type { Socket } from 'node:net'
import { encodeCommand, scanRequest } from '@fairlead/engine'
import { expect, test } from 'vitest'
import type { Connection, Owner } from '../connection/connection.ts'
import { createConnection } from '../connection/create-connection.ts'
import { dropConnection } from '../connection/end-connection.ts'
import { createLink } from '../connection/link.ts'
import { forwardRest } from './forward-rest.ts'

const CONNECTIONS = 160
const MOST_BYTES = 128 * 1024 * 1024
const SMALL_BYTES = 64 * 1024
const CHUNK_BYTES = 64 * 1024
/** The endpoint keeps its names: 1 MB, including the overhead of each. */
const channels = encodeCommand([
  'SUBSCRIBE',
  ...Array.from({ length: 950 }, (_, n) => `${n}`.padEnd(1_000, '-')),
])

function makeConnection(): Connection {
  const client = { destroy: () => undefined, isPaused: () => false, resume: () => undefined }
  const owner = {
    era: 0,
    barrier: { isOn: false },
    gate: { isClosed: false },
    onClosed: () => undefined,
    onCut: () => undefined,
  } as unknown as Owner
  const visitor = { id: 1, address: '', sinceMs: 0, crumb: new Uint8Array() }
  return createConnection(client as unknown as Connection['client'], visitor, owner)
}

/** A request without its last byte. */
function beginRequest(connection: Connection): void {
  const socket = { write: () => true, cork: () => undefined, uncork: () => undefined } as unknown as Socket
  const link = createLink(socket, { address: '', shard: '' }, 0)
  for (let from = 0; from < channels.length - 1; from += CHUNK_BYTES) {
    const chunk = channels.subarray(from, Math.min(from + CHUNK_BYTES, channels.length - 1))
    const goesOn = from > CHUNK_BYTES
    expect(scanRequest(connection.input.requests, chunk, 0)).toBe(-1)
    forwardRest(connection, link, { chunk, from: 0, at: 0, goesOn })
  }
}

const keptOf = ({ input: { requests } }: Connection) => requests.keptBytes + requests.part.length

test('the arguments kept of incomplete requests have a bound over all connections', () => {
  const connections = Array.from({ length: CONNECTIONS }, makeConnection)
  for (const connection of connections) beginRequest(connection)
  const kept = connections.reduce((sum, connection) => sum + keptOf(connection), 0)
  expect(kept).toBeLessThan(MOST_BYTES + CONNECTIONS * SMALL_BYTES)
  // For some connections they were dropped, and each of these was told.
  for (const {
    input: { requests },
  } of connections)
    expect(requests.cutShort).toBe(requests.words.length === 0)
  for (const connection of connections) dropConnection(connection)
  const later = makeConnection()
  beginRequest(later)
  expect(keptOf(later)).toBeGreaterThan(SMALL_BYTES)
  dropConnection(later)
})
