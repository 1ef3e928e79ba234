import { Refusal } from '@fairlead/api'
import type { FastifyRequest } from 'fastify'
import { may } from '../core/may.ts'
import type { User } from '../core/user.ts'

export type Whois = (token: string) => Promise<User | undefined>

/** A hook that lets a request through only with a token whose user holds the operation's permission. */
export function authenticate(whois: Whois) {
  return async (request: FastifyRequest): Promise<void> => {
    const permission = request.routeOptions.config.operation?.permission
    if (permission === undefined || permission === null) return

    const user = await whois(readToken(request.headers.authorization))
    if (user === undefined) {
      throw new Refusal(
        'unauthorized',
        'the token is not valid, or no longer; get one from POST /v1/users/authorize',
      )
    }
    if (!may(user.role, permission)) {
      throw new Refusal('forbidden', `the role ${user.role} lacks the permission ${permission}`)
    }
    request.user = user
  }
}

/** `Bearer` and `JWT` are both in use for the same token; letter case does not matter. */
function readToken(header: string | undefined): string {
  const match = /^(?:bearer|jwt) +([^ ]+)$/i.exec(header ?? '')
  if (match?.[1] === undefined) {
    throw new Refusal(
      'unauthorized',
      'send a token as `Authorization: Bearer <token>`; get one from POST /v1/users/authorize',
    )
  }
  return match[1]
}
