import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { REQUEST_ID_HEADER, readRequestId } from '@fairlead/engine'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'

/** The request's own id if it is safe in a log, or a new one. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  return readRequestId(headers[REQUEST_ID_HEADER]) ?? randomUUID()
}

/** Adds the request id to each answer, also to refusals. */
export function nameRequests(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    void reply.header(REQUEST_ID_HEADER, request.id)
    done()
  })
}

/**
 * Logs the request id with the action that it began: later entries have only the action's id. Logs
 * immediately, because a waiting hook makes Fastify listen for the end of every answer.
 */
export function logAction(log: Pick<Logger, 'info'>, request: FastifyRequest, answer: unknown): void {
  const { id, method, routeOptions } = request
  const action = actionIn(answer)
  if (action === null) return
  log.info({ request: id, action, method, route: routeOptions.config.operation?.path }, 'an action has begun')
}

/** The action in an answer. */
function actionIn(answer: unknown): string | null {
  const { action_uid: uid } = (answer ?? {}) as { readonly action_uid?: unknown }
  return typeof uid === 'string' ? uid : null
}
