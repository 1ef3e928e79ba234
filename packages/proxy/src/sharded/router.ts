import type { Socket } from 'node:net'
import type { GatheredBytes, RequestScanner } from '@fairlead/engine'
import {
  createGatheredBytes,
  createQueue,
  createReplyScanner,
  createRequestScanner,
  makeCommandTable,
  type Queue,
  type ReplyScanner,
} from '@fairlead/engine'
import { type Allowance, MOST_ASIDE_BYTES } from '../connection/allowance.ts'
import type { Connection, Visitor } from '../connection/connection.ts'
import type { Upstream } from '../endpoint/upstream.ts'
import type { Cut } from '../listen/cut-log.ts'
import type { CommandRules } from './command-rules.ts'
import type { Doubts } from './doubts.ts'
import type { Lookout } from './lookout.ts'
import type { Redirect } from './read-redirect.ts'

/** The parts that all clients of a sharded database share. */
export interface Shards {
  readonly upstreams: readonly Upstream[]
  /** The name of their endpoint. */
  readonly allowance: Allowance
  /** Slot → index of its upstream. */
  readonly slots: Uint16Array
  rules: CommandRules
  /** True: the next client with the right reads the rules again, because engines, or their modules, may have changed. */
  areRulesOld: boolean
  /** Finds slots for which engines redirect requests. */
  readonly lookout: Pick<Lookout, 'find'>
  /** Redirects that were not followed. */
  readonly doubts: Pick<Doubts, 'note'>
  onCut(cut: Cut): void
}

/**
 * A client of a sharded database. Behind it stands one ordinary connection for each group that it has asked something (a
 * backend), with all that such a connection can do: it is held, moved and made to remember on its own. The router says which
 * backend a request goes to, and puts the replies in the order of the requests.
 */
export interface Router {
  readonly client: Socket
  readonly visitor: Visitor
  readonly shards: Shards
  readonly requests: RequestScanner
  /** By group; undefined if the group was not used yet, or the backend was lost while it was idle. */
  readonly backends: (Backend | undefined)[]
  /** Every new backend gets the state of this one (login, protocol, names). It may be lost itself. */
  defaultBackend: Backend | undefined
  /** The pending replies to the client, in the order of its requests. */
  readonly pending: Queue<PendingReply>
  /** True: nothing is routed before all pending replies are sent, because the next command needs that nothing else is under way. */
  gated: boolean
  /** True: it has had its turn, and what it sends waits for the next one (forwarding/turns.ts). */
  yielded: boolean
  /** True: a command is being done while nothing else is under way. */
  busy: boolean
  /** Bytes of the client that may not be routed yet. */
  stash: Buffer[]
  stashBytes: number
  /** The beginning of a request whose backend is not known yet. */
  readonly part: GatheredBytes
  /** How many of its bytes are counted (kept-parts.ts). */
  partCounted: number
  /** How many of its bytes were searched for a key without success; 0: it was not searched yet, or had to wait. */
  partTried: number
  /** Where the rest of the request that is being read goes: to a backend, or `nowhere` (it is dropped). */
  rest: Backend | 'nowhere' | null
  /** Backends with bytes that are not forwarded yet. */
  readonly touched: Set<Backend>
  transaction: Transaction | null
  /** The slot of the watched keys; -1: none are watched. */
  watchedSlot: number
  /** CLIENT REPLY OFF, and SKIP for the next command. */
  silent: boolean
  skipsNext: boolean
  /** True: an engine has confirmed that the client has signed in or does not have to. */
  isKnown: boolean
  /** True: COMMAND was sent with this login, without success. */
  triedRules: boolean
  /** Requests that engines have redirected. */
  diverted: Diverted[]
  /** The bytes of requests that may have to be sent again (kept-requests.ts). */
  keptBytes: number
  /** The bytes of replies that are kept until they are complete, or combined with others, or read (collected-replies.ts). */
  collectedBytes: number
  /** Unrequested messages, which came in the middle of a reply of another backend. They count as held back (`heldBytes`). */
  between: { readonly backend: Backend; readonly bytes: Buffer }[]
  /** Bytes for the client, which are written at the end of the present chunk. */
  outgoing: Buffer[]
  outgoingBytes: number
  /** Bytes of that chunk, to which more may be added. */
  run: { readonly chunk: Buffer; readonly from: number; to: number } | null
  clientEnded: boolean
  /** The connection ends when all pending replies are sent: with this error, or without one. */
  lastError: string | null
  closed: boolean
  /** Called when replies have come: requests that wait for them may go on. */
  readonly onReplies: () => void
}

/** The connection of one client to one group, and the replies that are pending there. */
export interface Backend {
  readonly router: Router
  readonly group: number
  readonly connection: Connection
  readonly replies: ReplyScanner
  readonly pending: Queue<PendingReply>
  /** Bytes to be forwarded at the end of the present chunk. */
  unsent: Buffer[]
  /** Bytes held back, because earlier replies of other backends have not arrived, or are not sent completely. */
  heldBytes: number
  /** True: the reply that is being read must be complete before it is passed on. */
  careful: boolean
  parts: Buffer[]
  partBytes: number
  /** The reply that came last. */
  last: PendingReply | null
  paused: boolean
  /** The text with which it ended. */
  lastWords: string
}

/** One pending reply to the client, or one that the proxy itself waits for (`take`). */
export interface PendingReply {
  /** Bytes that came before the reply's turn, and are held back in this backend. */
  parts: readonly Buffer[]
  heldBy: Backend | null
  /** True: a part of it has been sent to the client. */
  begun: boolean
  done: boolean
  delivered: boolean
  /** True: the client wants no reply. */
  readonly silent: boolean
  readonly blocks: boolean
  /** The request, to be sent again if an engine redirects it; null: it is too large, or in a transaction. */
  request: Buffer | null
  /** The slot of its key; in a transaction that of the transaction. */
  readonly slot: number
  /** True: an error in its reply comes from the engine itself, because it runs no script, and is in no transaction. */
  readonly isEngines: boolean
  attempts: number
  /** SUBSCRIBE a b gets two answers, which begin with `word`. */
  confirmations: { readonly word: string; left: number } | null
  readonly take: ((parts: readonly Buffer[]) => void) | null
  /** True: the proxy's own question, which its client has not asked. */
  readonly isOwn: boolean
}

/** A request that a shard has refused with MOVED or ASK. */
export interface Diverted {
  readonly pendingReply: PendingReply
  readonly backend: Backend
  readonly redirect: Redirect
  /** The address of the engine that has refused it: `host:port`. */
  readonly shard: string
  /** The unchanged reply. */
  readonly reply: Buffer
}

/** A transaction. The proxy answers MULTI; the group is known from the first key on. */
export interface Transaction {
  readonly slot: number
  readonly backend: Backend | null
  /** Commands without a key that came before the first one with a key. */
  readonly waiting: readonly Buffer[]
  readonly waitingBytes: number
  /** True: EXEC will be refused. */
  readonly broken: boolean
}

/** A router without backends; `onReplies` is called when replies may be ready for the client. */
export function createRouter(
  client: Socket,
  visitor: Visitor,
  shards: Shards,
  onReplies: (router: Router) => void,
): Router {
  const router: Router = {
    client,
    visitor,
    shards,
    requests: createRequestScanner(noCommands),
    backends: [],
    defaultBackend: undefined,
    pending: createQueue(),
    gated: false,
    yielded: false,
    busy: false,
    stash: [],
    stashBytes: 0,
    part: createGatheredBytes(),
    partCounted: 0,
    partTried: 0,
    rest: null,
    touched: new Set(),
    transaction: null,
    watchedSlot: -1,
    silent: false,
    skipsNext: false,
    isKnown: false,
    triedRules: false,
    diverted: [],
    keptBytes: 0,
    collectedBytes: 0,
    between: [],
    outgoing: [],
    outgoingBytes: 0,
    run: null,
    clientEnded: false,
    lastError: null,
    closed: false,
    onReplies: () => onReplies(router),
  }
  return router
}

const noCommands = makeCommandTable({})

/** A backend without pending replies; `connection` makes its connection and may name the backend later. */
export function createBackend(
  router: Router,
  group: number,
  connection: (backend: () => Backend) => Connection,
): Backend {
  const backend: Backend = {
    router,
    group,
    connection: connection(() => backend),
    replies: createReplyScanner(),
    pending: createQueue(),
    unsent: [],
    heldBytes: 0,
    careful: false,
    parts: [],
    partBytes: 0,
    last: null,
    paused: false,
    lastWords: '',
  }
  return backend
}

/** A pending reply; missing fields get the values of a request to one group. */
export function makePendingReply(differing: Partial<PendingReply>): PendingReply {
  // All of them have one shape, and are not copied, because there is one for each request.
  return {
    parts: differing.parts ?? none,
    heldBy: null,
    begun: false,
    done: differing.done ?? false,
    delivered: false,
    silent: differing.silent ?? false,
    blocks: differing.blocks ?? false,
    request: differing.request ?? null,
    slot: differing.slot ?? -1,
    isEngines: differing.isEngines ?? false,
    attempts: 0,
    confirmations: differing.confirmations ?? null,
    take: differing.take ?? null,
    isOwn: differing.isOwn ?? false,
  }
}

const none: readonly Buffer[] = []

/** How much a client may send ahead while nothing can be routed. */
const LARGEST_STASH_BYTES = 64 * 1024
/** How many replies may be pending before the client is not read any more. */
export const MOST_PENDING = 8_192

/** Reads from the client as long as its requests can be routed or kept. */
export function steerRouter(router: Router): void {
  const { client, backends, stashBytes, pending, yielded } = router
  if (router.lastError !== null) return
  const isFull =
    stashBytes > (yielded ? MOST_ASIDE_BYTES : LARGEST_STASH_BYTES) ||
    pending.size > MOST_PENDING ||
    backends.some((backend) => backend?.paused === true)
  if (isFull !== client.isPaused()) isFull ? client.pause() : client.resume()
}
