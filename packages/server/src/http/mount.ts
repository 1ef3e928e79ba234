import type { Input, Operation, Output } from '@fairlead/api'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import type { User } from '../core/user.ts'

declare module 'fastify' {
  interface FastifyRequest {
    user: User | null
  }
  interface FastifyContextConfig {
    operation?: Operation
  }
}

/** `user` is null only where the operation's permission is. */
export type Handler<Op extends Operation> = (input: Input<Op>, user: User | null) => Promise<Output<Op>>
export type Mount = <Op extends Operation>(op: Op, handler: Handler<Op>) => void

/** Binds contract operations to their handlers: validation, permission and answer shape come from the contract. */
export function mountOn(app: FastifyInstance): Mount {
  return (op, handler) => {
    app.route({
      method: op.method,
      url: op.path,
      schema: {
        params: op.params ?? nothing,
        querystring: op.query ?? nothing,
        ...(op.body && { body: op.body }),
        response: { 200: op.ok },
      },
      config: { operation: op },
      // Fastify validated the parts with the very schemas that Input is made from.
      handler: (request) =>
        handler(
          { params: request.params, query: request.query, body: request.body } as Input<typeof op>,
          request.user,
        ),
    })
  }
}

const nothing = Type.Object({}, { additionalProperties: false })
