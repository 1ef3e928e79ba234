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
import type { Peers } from '../remembered/peers.ts'
import type { CommandRules } from './command-rules.ts'
import type { Doubts } from './doubts.ts'
import type { Lookout } from './lookout.ts'
import type { Redirect } from './read-redirect.ts'

/** Parts that all clients of a sharded database share. */
export interface Shards {
  readonly upstreams: readonly Upstream[]
  /** Work share of their endpoint. */
  readonly allowance: Allowance
  /** Map from slot to the index of its upstream. */
  readonly slots: Uint16Array
  rules: CommandRules
  /** True if the next client with the right should read the rules again: engines or modules may differ. */
  areRulesOld: boolean
  /** Finds slots for which engines redirect requests. */
  readonly lookout: Pick<Lookout, 'find'>
  /** Redirects that were not followed. */
  readonly doubts: Pick<Doubts, 'note'>
  readonly peers: Peers
  onCut(cut: Cut): void
}

/**
 * A client of a sharded database. It has one ordinary connection (a backend) for each group that it has used;
 * each is held, moved and restored separately. The router chooses the backend of a request, and orders the
 * replies by requests.
 */
export interface Router {
  readonly client: Socket
  readonly visitor: Visitor
  readonly shards: Shards
  /** Indexed by group; undefined if unused, or lost while idle. */
  readonly backends: (Backend | undefined)[]
  /** The backend whose state (login, protocol, names) is copied to each new one. May be lost. */
  defaultBackend: Backend | undefined
  /** Pending replies, in the order of the client's requests. */
  readonly pending: Queue<PendingReply>
  /** True if the next command needs all pending replies to be sent first. */
  gated: boolean
  /** True while a command runs exclusively. */
  busy: boolean
  /** Backends with bytes to be forwarded. */
  readonly touched: Set<Backend>
  /** Requests that engines have redirected. */
  diverted: Diverted[]
  /** Bytes of requests that may be sent again (kept-requests.ts). */
  keptBytes: number
  /** Set if the connection ends after all pending replies, with this error (empty: none). */
  lastError: string | null
  closed: boolean
  /** Called when replies have arrived: requests that wait for them may continue. */
  readonly onReplies: () => void
  readonly input: RouterInput
  readonly session: RouterSession
  readonly output: RouterOutput
}

/** Bytes of the client that are not routed yet. */
export interface RouterInput {
  readonly requests: RequestScanner
  /** True if its turn is over: new requests wait for the next turn (forwarding/turns.ts). */
  yielded: boolean
  /** Bytes of the client that may not be routed yet. */
  stash: Buffer[]
  stashBytes: number
  /** Beginning of a request whose backend is not known yet. */
  readonly part: GatheredBytes
  /** Counted bytes of `part` (kept-parts.ts). */
  partCounted: number
  /** Bytes of `part` that were searched for a key without success; 0 if not searched, or it had to wait. */
  partTried: number
  /** Destination of the rest of the present request; `nowhere`: it is dropped. */
  rest: Backend | 'nowhere' | null
  clientEnded: boolean
}

/** State of the client that concerns all groups. */
export interface RouterSession {
  transaction: Transaction | null
  /** Slot of the watched keys; -1 if none are watched. */
  watchedSlot: number
  /** CLIENT REPLY OFF, and SKIP for the next command. */
  silent: boolean
  skipsNext: boolean
  /** True if an engine has confirmed that the client has signed in or need not. */
  isKnown: boolean
  /** True if COMMAND failed with this login. */
  triedRules: boolean
}

/** Bytes for the client that are not written yet. */
export interface RouterOutput {
  /** Bytes of replies that are incomplete, to be combined, or unread (collected-replies.ts). */
  collectedBytes: number
  /** Unrequested messages that arrived within another backend's reply. Counted in `heldBytes`. */
  between: { readonly backend: Backend; readonly bytes: Buffer }[]
  /** Bytes for the client, written at the end of the present chunk. */
  outgoing: Buffer[]
  outgoingBytes: number
  /** The present part of that chunk; it may grow. */
  run: { readonly chunk: Buffer; readonly from: number; to: number } | null
}

/** Connection of one client to one group, and its pending replies. */
export interface Backend {
  readonly router: Router
  readonly group: number
  readonly connection: Connection
  readonly replies: ReplyScanner
  readonly pending: Queue<PendingReply>
  /** Bytes to be forwarded at the end of the present chunk. */
  unsent: Buffer[]
  /** Bytes held back, because earlier replies of other backends are incomplete. */
  heldBytes: number
  /** True if the present reply must be complete before it is passed on. */
  careful: boolean
  parts: Buffer[]
  partBytes: number
  /** The last reply. */
  last: PendingReply | null
  paused: boolean
  /** The error text with which it ended. */
  lastWords: string
}

/** A pending reply to the client, or to the proxy (`take`). */
export interface PendingReply {
  /** Bytes that arrived before the reply's turn, held back in this backend. */
  parts: readonly Buffer[]
  heldBy: Backend | null
  /** True if a part of it has been sent to the client. */
  begun: boolean
  done: boolean
  delivered: boolean
  /** True if the client wants no reply. */
  readonly silent: boolean
  readonly blocks: boolean
  /** The request, for a redirect; null if it is too large, or in a transaction. */
  request: Buffer | null
  /** Slot of its key, or of its transaction. */
  readonly slot: number
  /** True if an error in its reply comes from the engine: no script runs, and it is in no transaction. */
  readonly isEngines: boolean
  attempts: number
  /** Set for SUBSCRIBE a b, which gets two answers that begin with `word`. */
  confirmations: { readonly word: string; left: number } | null
  readonly take: ((parts: readonly Buffer[]) => void) | null
  /** True for a request of the proxy. */
  readonly isOwn: boolean
}

/** A request that a shard has refused with MOVED or ASK. */
export interface Diverted {
  readonly pendingReply: PendingReply
  readonly backend: Backend
  readonly redirect: Redirect
  /** Address of that shard: `host:port`. */
  readonly shard: string
  /** The unchanged reply. */
  readonly reply: Buffer
}

/** A transaction. The proxy answers MULTI; the first key decides the group. */
export interface Transaction {
  readonly slot: number
  readonly backend: Backend | null
  /** Commands without a key before the first one with a key. */
  readonly waiting: readonly Buffer[]
  readonly waitingBytes: number
  /** True if EXEC will be refused. */
  readonly broken: boolean
}

/** Creates a router without backends. `onReplies`: called when replies may be ready for the client. */
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
    backends: [],
    defaultBackend: undefined,
    pending: createQueue(),
    gated: false,
    busy: false,
    touched: new Set(),
    diverted: [],
    keptBytes: 0,
    lastError: null,
    closed: false,
    onReplies: () => onReplies(router),
    input: {
      requests: createRequestScanner(noCommands),
      yielded: false,
      stash: [],
      stashBytes: 0,
      part: createGatheredBytes(),
      partCounted: 0,
      partTried: 0,
      rest: null,
      clientEnded: false,
    },
    session: {
      transaction: null,
      watchedSlot: -1,
      silent: false,
      skipsNext: false,
      isKnown: false,
      triedRules: false,
    },
    output: {
      collectedBytes: 0,
      between: [],
      outgoing: [],
      outgoingBytes: 0,
      run: null,
    },
  }
  return router
}

const noCommands = makeCommandTable({})

/** Creates a backend. `connection` creates its connection, and may use the backend later. */
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

/** Creates a pending reply; missing fields get the values of a request to one group. */
export function makePendingReply(differing: Partial<PendingReply>): PendingReply {
  // All have one shape and are not copied: there is one for each request.
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

/** Limit of stashed bytes while nothing can be routed. */
const LARGEST_STASH_BYTES = 64 * 1024
/** Limit of pending replies; above it the client is not read. */
export const MOST_PENDING = 8_192

/** Reads from the client while its requests can be routed or kept. */
export function steerRouter(router: Router): void {
  const {
    client,
    backends,
    pending,
    input: { stashBytes, yielded },
  } = router
  if (router.lastError !== null) return
  const isFull =
    stashBytes > (yielded ? MOST_ASIDE_BYTES : LARGEST_STASH_BYTES) ||
    pending.size > MOST_PENDING ||
    backends.some((backend) => backend?.paused === true)
  if (isFull !== client.isPaused()) isFull ? client.pause() : client.resume()
}
