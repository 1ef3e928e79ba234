import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { REQUEST_ID_HEADER, readRequestId } from '@fairlead/engine'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'

/** The id that the request names, if it may stand in a log; otherwise a new one. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  return readRequestId(headers[REQUEST_ID_HEADER]) ?? randomUUID()
}

/** Names the id of each request in its answer, also where it is refused. */
export function nameRequests(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    void reply.header(REQUEST_ID_HEADER, request.id)
    done()
  })
}

/**
 * Logs a request that has begun an action with both ids: from then on the action's own id is in the log of the server and of the agent.
 * At once: Fastify listens for the end of each answer as soon as one hook waits for it.
 */
export function logAction(log: Pick<Logger, 'info'>, request: FastifyRequest, answer: unknown): void {
  const { id, method, routeOptions } = request
  const action = actionIn(answer)
  if (action === null) return
  log.info({ request: id, action, method, route: routeOptions.config.operation?.path }, 'an action has begun')
}

/** The action that an answer names. */
function actionIn(answer: unknown): string | null {
  const { action_uid: uid } = (answer ?? {}) as { readonly action_uid?: unknown }
  return typeof uid === 'string' ? uid : null
}
