/**
 * A minimal program that answers a database over HTTP: a bare Fastify route with the contract's schema as serializer, and the
 * payload that its parent sends. A process of its own, like the server. Prints its port when it listens.
 */

import { once } from 'node:events'
import { operations } from '@fairlead/api'
import Fastify from 'fastify'

const serve = async (payload: unknown) => {
  const app = Fastify()
  app.get('/v1/bdbs/:uid', { schema: { response: { 200: operations.getDatabase.ok } } }, async () => payload)
  process.send?.({ url: await app.listen({ host: '127.0.0.1', port: 0 }) })
}

process.once('disconnect', () => process.exit(0))
const [payload] = await once(process, 'message')
await serve(payload)
