import { Readable } from 'node:stream'
import { setImmediate as nextRound } from 'node:timers/promises'
import type { Operation } from '@fairlead/api'
import type { createMutex } from '@fairlead/engine'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { LongRequestLimiter } from './long-request-limiter.ts'

/** A client that reads nothing for this long is disconnected. */
const STALLED_MS = 60_000

/**
 * Sends a list by entry, as fast as the client reads. `runExclusive` limits all such answers together to one
 * entry per round of the event loop, so that long lists block nothing. Throws `too_many_requests`.
 */
export async function sendEntries(
  op: Operation,
  entries: Iterable<unknown>,
  exchange: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  parts: { readonly places: LongRequestLimiter; readonly runExclusive: ReturnType<typeof createMutex> },
): Promise<Readable> {
  const { request, reply } = exchange
  const print = reply.compileSerializationSchema(itemsOf(op))
  const place = parts.places.take(request)
  const body = Readable.from(printEntries(entries, print, parts.runExclusive), { objectMode: false })
  const leave = () => {
    place[Symbol.dispose]()
    body.destroy()
  }
  if (reply.raw.destroyed) leave()
  else reply.raw.once('close', leave)
  reply.raw.setTimeout(STALLED_MS)
  void reply.type('application/json; charset=utf-8')
  return body
}

async function* printEntries(
  entries: Iterable<unknown>,
  print: (entry: Record<string, unknown>) => string,
  runExclusive: ReturnType<typeof createMutex>,
): AsyncGenerator<string> {
  const iterator = entries[Symbol.iterator]()
  yield '['
  for (let lead = ''; ; lead = ',') {
    const text = await runExclusive(async () => {
      await nextRound()
      const { done, value } = iterator.next()
      return done === true ? undefined : lead + print(value as Record<string, unknown>)
    })
    if (text === undefined) break
    yield text
  }
  yield ']'
}

/** Compiled schemas are cached by object: the contract has one per operation. */
function itemsOf({ ok }: Operation): Record<string, unknown> {
  const { items } = ok as { readonly items?: Record<string, unknown> }
  if (items === undefined) throw new Error('only a list has entries')
  return items
}
