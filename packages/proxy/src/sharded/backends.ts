import { encodeCommand } from '@fairlead/engine'
import type { ClientSide } from '../connection/connection.ts'
import { createConnection } from '../connection/create-connection.ts'
import { takeRequests } from '../forwarding/forward-requests.ts'
import { nextTurnOf } from '../forwarding/turns.ts'
import { nowDoing } from '../heartbeat/breadcrumb.ts'
import { type ConnectionState, freshState, isSubscribed } from '../remembered/connection-state.ts'
import { endRouter } from './close-router.ts'
import { finish, give, isHeldBack, joined, orderReplies } from './order-replies.ts'
import { flushOutgoing } from './outgoing.ts'
import {
  type Backend,
  createBackend,
  makePendingReply,
  type PendingReply,
  type Router,
  steerRouter,
} from './router.ts'

/** Returns the backend to `group`; a new one gets the client's state (login, protocol, names). */
export function backendFor(router: Router, group: number): Backend {
  const backend = router.backends[group]
  if (backend !== undefined) return backend
  const upstream = router.shards.upstreams[group]
  if (upstream === undefined) throw new Error(`there is no group ${group}`)
  const opened = createBackend(router, group, (self) =>
    createConnection(clientSideOf(self), router.visitor, upstream.owner),
  )
  opened.connection.session.state = carriedOver(router.defaultBackend?.connection.session.state ?? freshState)
  router.backends[group] = opened
  if (group === DEFAULT_GROUP) router.defaultBackend = opened
  upstream.add(opened.connection)
  return opened
}

/** Returns the backend of the group with `slot`; for a slot below 0 (no key), the default backend. */
export function backendOfSlot(router: Router, slot: number): Backend {
  return backendFor(router, slot < 0 ? DEFAULT_GROUP : (router.shards.slots[slot] ?? DEFAULT_GROUP))
}

/** Group for requests without a slot. */
export const DEFAULT_GROUP = 0

/** Returns the state that does not belong to one group. */
function carriedOver(state: ConnectionState): ConnectionState {
  const { subscribed, subscribedBytes } = freshState
  return { ...state, subscribed, subscribedBytes, watches: false, transaction: null, unmovable: undefined }
}

/** Returns the socket that a backend's connection uses as its client. */
function clientSideOf(self: () => Backend): ClientSide {
  return {
    get bytesWritten() {
      return self().router.client.bytesWritten
    },
    get localAddress() {
      return self().router.client.localAddress
    },
    get localPort() {
      return self().router.client.localPort
    },
    get writableLength() {
      return self().router.client.writableLength
    },
    get writableNeedDrain() {
      const backend = self()
      return isHeldBack(backend) || backend.router.client.writableNeedDrain
    },
    write(bytes) {
      const backend = self()
      // A text comes only at the end of the connection.
      if (typeof bytes === 'string') backend.lastWords = bytes
      else orderReplies(backend, bytes)
      return !isHeldBack(backend) && !backend.router.client.writableNeedDrain
    },
    isPaused: () => self().paused,
    pause: () => pause(self(), true),
    resume: () => pause(self(), false),
    destroy: () => lose(self()),
    destroySoon: () => lose(self()),
  } as ClientSide
}

function pause(backend: Backend, isPaused: boolean): void {
  backend.paused = isPaused
  steerRouter(backend.router)
}

/**
 * Handles a closed backend connection. Requests that were certainly not executed get an error; otherwise the
 * client connection is closed.
 */
function lose(backend: Backend): void {
  const { router, group, lastWords, connection } = backend
  if (router.closed) return
  const {
    session: { state },
  } = connection
  const isMissed =
    isSubscribed(state) || state.watches || state.transaction !== null || state.tracking.length > 0
  const isUntouched = backend.pending.size === 0 && backend.parts.length === 0
  if (isMissed || state.unmovable !== undefined || !(isUntouched || connection.isUnreached)) {
    endRouter(router, lastWords === '' ? undefined : lastWords.slice(1).trimEnd(), connection.cutBecause)
    return
  }
  if (router.backends[group] === backend) router.backends[group] = undefined
  // The rest of a request that is answered here is dropped.
  if (router.input.rest === backend) router.input.rest = 'nowhere'
  const error = Buffer.from(lastWords)
  for (
    let pendingReply = backend.pending.first();
    pendingReply !== undefined;
    pendingReply = backend.pending.first()
  )
    answerInstead(backend, pendingReply, error)
  flushOutgoing(router)
  router.onReplies()
}

function answerInstead(backend: Backend, pendingReply: PendingReply, error: Buffer): void {
  if (pendingReply.take === null) {
    give(backend, pendingReply, error, 0, error.length)
    finish(backend, pendingReply)
    return
  }
  backend.pending.shift()
  pendingReply.take([error])
}

/** Forwards the bytes given to the backends. */
export function flushBackends(router: Router): void {
  for (const backend of router.touched) {
    const [first, ...others] = backend.unsent
    backend.unsent = []
    if (first === undefined) continue
    takeRequests(backend.connection, others.length === 0 ? first : Buffer.concat([first, ...others]))
  }
  router.touched.clear()
}

/** Gives a backend bytes of the client; forwarded with others of the same chunk. */
export function pass(backend: Backend, bytes: Buffer): void {
  backend.unsent.push(bytes)
  backend.router.touched.add(backend)
}

/** Sends a command (words or bytes) to a backend's engine. Returns the unchanged reply, even an error. */
export async function ask(
  backend: Backend,
  command: readonly (string | Uint8Array)[] | Buffer,
): Promise<Buffer> {
  return joined(await askForParts(backend, command))
}

/** Like ask, for a request of the proxy: traces of handovers exclude it. */
export async function askOwn(backend: Backend, words: readonly string[]): Promise<Buffer> {
  return joined(await askForParts(backend, words, true))
}

/** Like ask, for a reply that may be long: returns it in the received pieces. */
export async function askForParts(
  backend: Backend,
  command: readonly (string | Uint8Array)[] | Buffer,
  isOwn = false,
): Promise<readonly Buffer[]> {
  const { promise, resolve } = Promise.withResolvers<readonly Buffer[]>()
  backend.pending.push(makePendingReply({ take: resolve, isOwn }))
  await feed(backend, Buffer.isBuffer(command) ? command : encodeCommand(command))
  return promise
}

/** Size of a piece: a read from a client. */
export const LARGEST_FED_BYTES = 64 * 1024

/**
 * Forwards a request, a long one in pieces as if read from the client: parsing 170,000 words takes 0.1 s. No
 * other bytes may be given to the backend before it resolves.
 */
export async function feed(backend: Backend, request: Buffer): Promise<void> {
  const { router, connection } = backend
  pass(backend, request.subarray(0, LARGEST_FED_BYTES))
  flushBackends(router)
  for (let at = LARGEST_FED_BYTES; at < request.length; at += LARGEST_FED_BYTES) {
    await nextTurn(router)
    if (router.closed) return
    nowDoing('splits a request over the groups for', router.visitor.crumb)
    takeRequests(connection, request.subarray(at, at + LARGEST_FED_BYTES))
  }
}

/** Lets others have their turn between two pieces. */
export async function nextTurn({ visitor, shards }: Router): Promise<void> {
  await nextTurnOf(shards.allowance, 'splits a request over the groups for', visitor.crumb)
}

/** Sends a request of the proxy without waiting; the reply is not used. */
export function mention(backend: Backend, words: readonly string[]): void {
  backend.pending.push(makePendingReply({ take: () => undefined, isOwn: true }))
  pass(backend, encodeCommand(words))
}
