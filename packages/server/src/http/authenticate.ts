import { type Operation, Refusal } from '@fairlead/api'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Caller, databasesFor, isAdmin, may } from '../core/identity/access.ts'
import type { Identify } from '../identity/sessions/identify.ts'
import { credentialsOf } from './browser-session.ts'

/**
 * Called for each request that is refused for a missing permission. Returns the name of the database if the
 * caller may see it.
 */
export type OnRefused = (
  caller: Caller,
  permission: string,
  databaseUid: number | undefined,
) => Promise<string | undefined>

/**
 * Returns a hook that requires a known sender with the operation's permission: on the database in the path,
 * if any.
 */
export function authenticate(identify: Identify, onRefused: OnRefused) {
  const admitChange = createChangeBudgets()
  const check = (request: FastifyRequest, operation: Operation, caller: Caller): void | Promise<void> => {
    request.caller = caller
    if (isPermitted(request, operation, caller)) {
      if (operation.method !== 'GET') admitChange(caller)
      return
    }
    const uid = isAboutDatabase(operation) ? uidOf(request) : undefined
    // The path is not validated yet: only a number may be recorded as a database.
    return refuse(caller, operation.permission ?? '', Number.isSafeInteger(uid) ? uid : undefined)
  }
  const refuse = async (caller: Caller, permission: string, databaseUid: number | undefined) => {
    const name = await onRefused(caller, permission, databaseUid)
    const where = databaseUid === undefined ? '' : ` on database ${name ?? databaseUid}`
    throw new Refusal(
      'forbidden',
      `the roles of ${caller.user.name} lack the permission ${permission}${where}`,
    )
  }
  const look = (request: FastifyRequest, operation: Operation): void | Promise<void> => {
    const admitsExpired = operation.admitsExpired === true
    const found = identify(credentialsOf(request), { address: request.ip }, { admitsExpired })
    if (!(found instanceof Promise)) return check(request, operation, found)
    return found.then((caller) => check(request, operation, caller))
  }
  return (request: FastifyRequest, _: FastifyReply, done: (error?: Error) => void): void => {
    const { operation } = request.routeOptions.config
    if (operation === undefined || operation.permission === null) {
      done()
      return
    }
    try {
      const looked = look(request, operation)
      if (looked instanceof Promise) looked.then(() => done(), done)
      else done()
    } catch (cause) {
      done(cause as Error) // refusals and bugs: always an Error
    }
  }
}

/** Returns whether the caller's roles permit the operation, on the path's database if any. */
export function isPermitted(
  request: Pick<FastifyRequest, 'params'>,
  operation: Operation,
  { user }: Caller,
): boolean {
  const { permission } = operation
  if (permission === null || permission === 'signed_in') return true
  const uid = uidOf(request)
  if (operation.ownWithout === true && uid === user.uid) return true
  if (operation.forSome === true) return databasesFor(user, permission)?.length !== 0
  return may(user, permission, isAboutDatabase(operation) ? uid : undefined)
}

function uidOf({ params }: Pick<FastifyRequest, 'params'>): number {
  return Number((params as { readonly uid?: string }).uid)
}

function isAboutDatabase({ path }: Operation): boolean {
  return path.startsWith('/v1/bdbs/:uid') || others.includes(path)
}

/** Other paths with a database. */
const others: readonly string[] = [
  ...['/v1/actions/bdb/:uid', '/v1/modules/upgrade/bdb/:uid'],
  '/v1/local/bdbs/:uid/endpoint/availability',
  ...['/v1/bdbs/stats/:uid', '/v1/bdbs/stats/last/:uid', '/v1/bdbs/alerts/:uid'],
]

/** Changing requests per user: burst, and per second. */
const AT_ONCE = 600
const EACH_SECOND = 2
/** The user with the oldest request is removed first. */
const MOST_USERS = 10_000

/**
 * Throws Refusal too_many_requests for changes faster than disk and log can bear. Admins are exempt: they
 * have full power.
 */
function createChangeBudgets(nowMs: () => number = () => performance.now()): (caller: Caller) => void {
  const used = new Map<number, { readonly level: number; readonly atMs: number }>()
  return ({ user }) => {
    if (isAdmin(user)) return
    const { level, atMs } = used.get(user.uid) ?? { level: 0, atMs: nowMs() }
    const now = nowMs()
    const left = Math.max(0, level - ((now - atMs) / 1000) * EACH_SECOND)
    if (left >= AT_ONCE) {
      throw new Refusal('too_many_requests', `${user.name} changes too much at once; try again later`)
    }
    used.delete(user.uid)
    const [oldest] = used.keys()
    if (oldest !== undefined && used.size >= MOST_USERS) used.delete(oldest)
    used.set(user.uid, { level: left + 1, atMs: now })
  }
}
