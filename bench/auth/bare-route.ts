/**
 * A minimal program that answers a database over HTTP and over HTTPS: a bare Fastify route with the contract's schema as serializer, and the
 * payload that its parent sends. It is a process of its own, like the server, and prints where it listens.
 */

import { once } from 'node:events'
import { operations } from '@fairlead/api'
import Fastify from 'fastify'

interface Orders {
  readonly payload: unknown
  readonly pair: { readonly cert: string; readonly key: string }
}

const serve = async ({ payload, pair }: Orders) => {
  const schema = { response: { 200: operations.getDatabase.ok } }
  const place = { host: '127.0.0.1', port: 0 }
  const plain = Fastify()
  plain.get('/v1/bdbs/:uid', { schema }, async () => payload)
  const secure = Fastify({ https: pair })
  secure.get('/v1/bdbs/:uid', { schema }, async () => payload)
  process.send?.({ url: await plain.listen(place), httpsUrl: await secure.listen(place) })
}

process.once('disconnect', () => process.exit(0))
const [orders] = await once(process, 'message')
await serve(orders as Orders)
