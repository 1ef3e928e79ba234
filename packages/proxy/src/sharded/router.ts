import type { Socket } from 'node:net'
import type { GatheredBytes, RequestScanner } from '@fairlead/engine'
import {
  createGatheredBytes,
  createReplyScanner,
  createRequestScanner,
  makeCommandTable,
  type ReplyScanner,
} from '@fairlead/engine'
import { type Allowance, MOST_ASIDE_BYTES } from '../connection/allowance.ts'
import type { Connection, Visitor } from '../connection/connection.ts'
import type { Upstream } from '../endpoint/upstream.ts'
import type { Cut } from '../listen/cut-log.ts'
import { createQueue, type Queue } from '../remembered/queue.ts'
import type { CommandRules } from './command-rules.ts'
import type { Doubts } from './doubts.ts'
import type { Lookout } from './lookout.ts'
import type { Redirect } from './read-redirect.ts'

/** What the clients of a sharded database share. */
export interface Shards {
  readonly upstreams: readonly Upstream[]
  /** Of their endpoint. */
  readonly allowance: Allowance
  /** Slot → index of its upstream. */
  readonly slots: Uint16Array
  rules: CommandRules
  /** The rules are to be read by the next client that may: engines, and their modules, may have changed. */
  areRulesOld: boolean
  /** Where slots are that engines send requests away from. */
  readonly lookout: Pick<Lookout, 'find'>
  /** What was not followed. */
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
  /** By group; undefined where nothing was asked yet, or the backend was lost while it was idle. */
  readonly backends: (Backend | undefined)[]
  /** What its engine remembers (login, protocol, names), every new backend is made to remember. May be lost itself. */
  defaultBackend: Backend | undefined
  /** Replies that the client is due, in the order of its requests. */
  readonly pending: Queue<PendingReply>
  /** Nothing is routed before all pending replies are sent: what comes next is done alone. */
  gated: boolean
  /** It has had its turn: what it sends waits for the next one (forwarding/turns.ts). */
  yielded: boolean
  /** Something is being done alone. */
  busy: boolean
  /** Bytes of the client that may not be routed yet. */
  stash: Buffer[]
  stashBytes: number
  /** The beginning of a request whose backend is not known yet. */
  readonly part: GatheredBytes
  /** What of it is counted (kept-parts.ts). */
  partCounted: number
  /** How much of it was looked through in vain; 0: it was not yet, or had to wait. */
  partTried: number
  /** The rest of the request that is being read goes there (a backend), or nowhere. */
  rest: Backend | 'nowhere' | null
  /** Backends that were given something which is not forwarded yet. */
  readonly touched: Set<Backend>
  transaction: Transaction | null
  /** The slot of what is watched; -1: nothing. */
  watchedSlot: number
  /** CLIENT REPLY OFF, and SKIP for the next command. */
  silent: boolean
  skipsNext: boolean
  /** An engine was asked, and the client has signed in or need not. */
  isKnown: boolean
  /** COMMAND was asked with this login, without success. */
  triedRules: boolean
  /** Requests that engines have sent elsewhere. */
  diverted: Diverted[]
  /** Of requests that may have to be asked again (kept-requests.ts). */
  keptBytes: number
  /** Of replies that are kept until they are whole, or are told together with others, or read (collected-replies.ts). */
  collectedBytes: number
  /** Unrequested messages, which came in the middle of a reply of another backend. They count as held back (`heldBytes`). */
  between: { readonly backend: Backend; readonly bytes: Buffer }[]
  /** On its way to the client: written when the chunk that is being looked at is at its end. */
  outgoing: Buffer[]
  outgoingBytes: number
  /** Bytes of that chunk, to which more may be added. */
  run: { readonly chunk: Buffer; readonly from: number; to: number } | null
  clientEnded: boolean
  /** The connection ends when all pending replies are sent: with this error, or without one. */
  lastError: string | null
  closed: boolean
  /** Replies have come: perhaps what waits for them may go on. */
  readonly onReplies: () => void
}

/** The connection of one client to one group, and the replies that are pending there. */
export interface Backend {
  readonly router: Router
  readonly group: number
  readonly connection: Connection
  readonly replies: ReplyScanner
  readonly pending: Queue<PendingReply>
  /** To be forwarded with what else comes in the same chunk. */
  unsent: Buffer[]
  /** Held back, because earlier replies of other backends are not in, or not told to their end. */
  heldBytes: number
  /** The reply that is being read has to be seen whole. */
  careful: boolean
  parts: Buffer[]
  partBytes: number
  /** The reply that came last. */
  last: PendingReply | null
  paused: boolean
  /** What it had to say when it ended. */
  lastWords: string
}

/** One reply that the client is due, or that we wait for ourselves (`take`). */
export interface PendingReply {
  /** Came out of turn, and is held back in this backend. */
  parts: readonly Buffer[]
  heldBy: Backend | null
  /** A part of it has gone to the client. */
  begun: boolean
  done: boolean
  delivered: boolean
  /** The client wants no reply. */
  readonly silent: boolean
  readonly blocks: boolean
  /** To be asked again where an engine sends it; null: it is too large, or in a transaction. */
  request: Buffer | null
  /** Of its key; in a transaction that of the transaction. */
  readonly slot: number
  /** An error in reply to it is the engine's own word: it runs no script, and is in no transaction. */
  readonly isEngines: boolean
  attempts: number
  /** SUBSCRIBE a b is answered twice, with messages that begin with `word`. */
  confirmations: { readonly word: string; left: number } | null
  readonly take: ((reply: Buffer) => void) | null
}

/** A request that a shard has refused with MOVED or ASK. */
export interface Diverted {
  readonly pendingReply: PendingReply
  readonly backend: Backend
  readonly redirect: Redirect
  /** Where the engine is that has said so: `host:port`. */
  readonly shard: string
  /** The reply as it came. */
  readonly reply: Buffer
}

/** MULTI is answered by us; the group is known with the first key. */
export interface Transaction {
  readonly slot: number
  readonly backend: Backend | null
  /** Commands without a key that came before the first one with a key. */
  readonly waiting: readonly Buffer[]
  readonly waitingBytes: number
  /** EXEC will be refused. */
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

/** A pending reply; what is not given has the value of a request to one group. */
export function makePendingReply(differing: Partial<PendingReply>): PendingReply {
  // One shape for all of them, and no copies: there is one for each request.
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
  }
}

const none: readonly Buffer[] = []

/** How much a client may send ahead while nothing can be routed, and how many replies it may be due. */
const LARGEST_STASH_BYTES = 64 * 1024
/** How many replies a client may be owed before it is read no further. */
export const MOST_PENDING = 8_192

/** Reads from the client as long as what it sends has somewhere to go. */
export function steerRouter({ client, backends, stashBytes, pending, yielded }: Router): void {
  const isFull =
    stashBytes > (yielded ? MOST_ASIDE_BYTES : LARGEST_STASH_BYTES) ||
    pending.size > MOST_PENDING ||
    backends.some((backend) => backend?.paused === true)
  if (isFull !== client.isPaused()) isFull ? client.pause() : client.resume()
}
