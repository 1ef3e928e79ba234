import { type Operation, Refusal } from '@fairlead/api'
import type { FastifyRequest } from 'fastify'
import { type Caller, may } from '../core/access.ts'
import type { Identify } from '../sessions/identify.ts'

/** Told of each request that was refused for want of a permission. */
export type OnRefused = (caller: Caller, permission: string, databaseUid: number | undefined) => Promise<void>

/**
 * A hook that lets a request through only when its sender is known and holds the operation's permission: on the database
 * that the path names, where it names one.
 */
export function authenticate(identify: Identify, onRefused: OnRefused) {
  return async (request: FastifyRequest): Promise<void> => {
    const { operation } = request.routeOptions.config
    if (operation === undefined || operation.permission === null) return
    const visitor = { address: request.ip }
    const caller = await identify(request.headers.authorization, visitor, {
      admitsExpired: operation.admitsExpired === true,
    })
    request.caller = caller

    const { permission } = operation
    if (permission === 'signed_in') return
    const uid = Number((request.params as { readonly uid?: string }).uid)
    if (operation.ownWithout === true && uid === caller.user.uid) return
    const databaseUid = isAboutDatabase(operation) ? uid : undefined
    if (may(caller.user, permission, databaseUid)) return
    await onRefused(caller, permission, databaseUid)
    throw new Refusal('forbidden', `the roles of ${caller.user.name} lack the permission ${permission} here`)
  }
}

function isAboutDatabase({ path }: Operation): boolean {
  return path.startsWith('/v1/bdbs/:uid')
}
