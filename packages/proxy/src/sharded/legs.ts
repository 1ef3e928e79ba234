import { encodeCommand } from '@fairlead/engine'
import type { ClientSide } from '../connection/connection.ts'
import { createConnection } from '../connection/create-connection.ts'
import { takeRequests } from '../forwarding/forward-requests.ts'
import { inTurn } from '../forwarding/turns.ts'
import { nowDoing } from '../heartbeat/breadcrumb.ts'
import { type ConnectionState, freshState, isSubscribed } from '../remembered/connection-state.ts'
import { endRouter } from './close-router.ts'
import { finish, give, isHeldBack, orderReplies } from './order-replies.ts'
import { createLeg, type Leg, makeOwed, type Owed, type Router, steerRouter } from './router.ts'
import { flushTold } from './tell-client.ts'

/** The leg to `group`; a new one is made to remember what the client has said of itself. */
export function legTo(router: Router, group: number): Leg {
  const leg = router.legs[group]
  if (leg !== undefined) return leg
  const upstream = router.shards.upstreams[group]
  if (upstream === undefined) throw new Error(`there is no group ${group}`)
  const opened = createLeg(router, group, (self) =>
    createConnection(clientSideOf(self), router.visitor, upstream.owner),
  )
  opened.connection.state = carriedOver(router.home?.connection.state ?? freshState)
  router.legs[group] = opened
  if (group === HOME) router.home = opened
  upstream.add(opened.connection)
  return opened
}

/** The group that is asked what belongs to no slot. */
export const HOME = 0

/** All that does not belong to one group. */
function carriedOver(state: ConnectionState): ConnectionState {
  const { subscribed, subscribedBytes } = freshState
  return { ...state, subscribed, subscribedBytes, watches: false, transaction: null, unmovable: undefined }
}

/** Where a leg's connection believes its client to be. */
function clientSideOf(self: () => Leg): ClientSide {
  return {
    get writableNeedDrain() {
      const leg = self()
      return isHeldBack(leg) || leg.router.client.writableNeedDrain
    },
    write(bytes) {
      const leg = self()
      // Only what it ends with is a text.
      if (typeof bytes === 'string') leg.lastWords = bytes
      else orderReplies(leg, bytes)
      return !isHeldBack(leg) && !leg.router.client.writableNeedDrain
    },
    isPaused: () => self().paused,
    pause: () => pause(self(), true),
    resume: () => pause(self(), false),
    destroy: () => lose(self()),
    destroySoon: () => lose(self()),
  } as ClientSide
}

function pause(leg: Leg, isPaused: boolean): void {
  leg.paused = isPaused
  steerRouter(leg.router)
}

/** A leg is no more. What it was asked and certainly has not done is answered with why; else the client has to know. */
function lose(leg: Leg): void {
  const { router, group, lastWords, connection } = leg
  if (router.closed) return
  const { state } = connection
  const isMissed =
    isSubscribed(state) || state.watches || state.transaction !== null || state.tracking.length > 0
  const isUntouched = leg.owed.size === 0 && leg.parts.length === 0
  if (isMissed || state.unmovable !== undefined || !(isUntouched || connection.isUnreached)) {
    endRouter(router, lastWords === '' ? undefined : lastWords.slice(1).trimEnd(), connection.cutBecause)
    return
  }
  if (router.legs[group] === leg) router.legs[group] = undefined
  // Of a request that is answered here the rest has nowhere to go.
  if (router.rest === leg) router.rest = 'nowhere'
  const error = Buffer.from(lastWords)
  for (let owed = leg.owed.first(); owed !== undefined; owed = leg.owed.first())
    answerInstead(leg, owed, error)
  flushTold(router)
  router.onReplies()
}

function answerInstead(leg: Leg, owed: Owed, error: Buffer): void {
  if (owed.take === null) {
    give(leg, owed, error, 0, error.length)
    finish(leg, owed)
    return
  }
  leg.owed.shift()
  owed.take(error)
}

/** Forwards what the legs were given. */
export function flushLegs(router: Router): void {
  for (const leg of router.touched) {
    const [first, ...others] = leg.pending
    leg.pending = []
    if (first === undefined) continue
    takeRequests(leg.connection, others.length === 0 ? first : Buffer.concat([first, ...others]))
  }
  router.touched.clear()
}

/** Gives a leg bytes of the client, which are forwarded with the others of the same chunk. */
export function pass(leg: Leg, bytes: Buffer): void {
  leg.pending.push(bytes)
  leg.router.touched.add(leg)
}

/**
 * Asks the engine of a leg on behalf of the endpoint: the words of a command, or its bytes. The reply, an error or not, as it
 * came.
 */
export async function ask(leg: Leg, command: readonly (string | Uint8Array)[] | Buffer): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>()
  leg.owed.push(makeOwed({ take: resolve }))
  await feed(leg, Buffer.isBuffer(command) ? command : encodeCommand(command))
  return promise
}

/** As much as is read of a client at a time. */
export const LARGEST_FED_BYTES = 64 * 1024

/**
 * Forwards a request at once or, a long one, in pieces as it would have come from its client: to find the end of one with 170,000 words takes a
 * tenth of a second. Nothing else may be given to the leg meanwhile.
 */
export async function feed(leg: Leg, request: Buffer): Promise<void> {
  const { router, connection } = leg
  pass(leg, request.subarray(0, LARGEST_FED_BYTES))
  flushLegs(router)
  for (let at = LARGEST_FED_BYTES; at < request.length; at += LARGEST_FED_BYTES) {
    await nextTurn(router)
    if (router.closed) return
    nowDoing('splits a request over the groups for', router.visitor.crumb)
    takeRequests(connection, request.subarray(at, at + LARGEST_FED_BYTES))
  }
}

/** Others have their turn. */
export async function nextTurn({ visitor }: Router): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  inTurn('splits a request over the groups for', visitor.crumb, resolve)
  await promise
}

/** Asks without waiting; what the engine answers does not matter. */
export function mention(leg: Leg, words: readonly string[]): void {
  leg.owed.push(makeOwed({ take: () => undefined }))
  pass(leg, encodeCommand(words))
}
