import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { REQUEST_ID_HEADER, readRequestId } from '@fairlead/engine'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'

/** The id that the request names, if it may stand in a log; otherwise a new one. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  return readRequestId(headers[REQUEST_ID_HEADER]) ?? randomUUID()
}

/**
 * Names the id of each request in its answer, also where it is refused. A request that begins an action is logged with both ids: from then on
 * the action's own id is in the log of the server and of the agent.
 */
export function nameRequests(app: FastifyInstance, log: Logger): void {
  app.decorateRequest('actionUid', null)
  app.addHook('onRequest', (request, reply, done) => {
    void reply.header(REQUEST_ID_HEADER, request.id)
    done()
  })
  app.addHook('onResponse', ({ id, actionUid, method, routeOptions }, _, done) => {
    if (actionUid !== null)
      log.info(
        { request: id, action: actionUid, method, route: routeOptions.config.operation?.path },
        'an action has begun',
      )
    done()
  })
}

/** The action that an answer names. */
export function actionIn(answer: unknown): string | null {
  const { action_uid: uid } = (answer ?? {}) as { readonly action_uid?: unknown }
  return typeof uid === 'string' ? uid : null
}
