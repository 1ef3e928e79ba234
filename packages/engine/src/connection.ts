import type { Socket } from 'node:net'
import { type Asking, askInOrder, type RepeatedQuestion } from './ask-in-order.ts'
import { connectToOwn } from './connect-to-own.ts'
import type { EngineAddress, EngineTls } from './engine-address.ts'
import { encodeCommand } from './framing/encode-command.ts'
import type { PlainReply } from './framing/parse-plain-reply.ts'
import { createReplyReader, type ReplyLimits } from './framing/reply-reader.ts'
import { openSocket } from './open-socket.ts'
import { printable } from './printable.ts'
import { messageOf } from './process/message-of.ts'
import { traceCommand } from './trace-command.ts'

/** A user of an engine (ACL) and its plain password. */
export interface EngineLogin {
  readonly username: string
  readonly password: string
}

/** Reply to a command. An error inside a list (for example of EXEC) is its text. */
export type Reply = string | number | null | readonly Reply[]

/** The engine's error reply ("READONLY …", "NOPERM …"), printable, at most 500 characters. */
export class EngineError extends Error {
  override readonly name = 'EngineError'

  /** Code of the engine: "READONLY". */
  get code(): string {
    return this.message.split(' ', 1)[0] ?? ''
  }
}

/** No valid answer: refused, closed, late, or invalid. It is unknown if a command was executed. */
export class EngineUnreachable extends Error {
  override readonly name = 'EngineUnreachable'
}

/** An authenticated connection to one engine process. Commands are answered in the order of the calls. */
export interface EngineConnection extends Disposable {
  readonly address: EngineAddress
  /** Sends a command immediately. Throws EngineError, or EngineUnreachable at the connection's deadline. */
  call(command: string, ...args: readonly (string | number | Buffer)[]): Promise<Reply>
  /** Returns the text of INFO, restricted to `sections` if any are named. */
  info(...sections: readonly string[]): Promise<string>
  /** False when the connection is broken, which is permanent: open another. */
  readonly usable: boolean
}

/** A connection for repeated questions to an engine. */
export interface RepeatingConnection extends EngineConnection {
  /**
   * Like `call`. A reply with the bytes of the former one is the same value and not parsed again, if it is a
   * text, or a list of at least 100.
   */
  callAgain(question: RepeatedQuestion): Promise<Reply>
}

/**
 * Connects and logs in, without retries: the caller decides about an engine that does not answer. Limits:
 * `connectTimeoutMs` for connecting with login (a frozen process accepts TCP and sends nothing),
 * `commandTimeoutMs` for each command. Throws EngineUnreachable, with the cause NotOurs (another user's
 * process on this machine, which gets no password: connect-to-own.ts) or EngineError (refused login).
 */
export async function connectEngine(options: {
  readonly address: EngineAddress
  readonly login: EngineLogin
  /** Plain TCP if absent. */
  readonly tls?: EngineTls
  readonly connectTimeoutMs?: number
  readonly commandTimeoutMs?: number
  /** True to accept an engine that a script keeps busy: it answers only commands that end the script. */
  readonly alsoBusy?: boolean
  /** Limits of one reply; default: see reply-reader.ts. */
  readonly replyLimits?: ReplyLimits
  /** Called for each message of a subscribed shard channel (SSUBSCRIBE). */
  readonly onMessage?: () => void
  /** Called when the connection has ended, from either side. */
  readonly onClose?: () => void
}): Promise<RepeatingConnection> {
  const {
    address,
    login,
    tls,
    connectTimeoutMs = 1_000,
    commandTimeoutMs = 2_000,
    alsoBusy = false,
    replyLimits,
    onMessage,
    onClose,
  } = options
  using stack = new DisposableStack()
  // The proof of the listener's owner may outlast the timeout: a socket opened after that would never be
  // closed.
  const late = new AbortController()
  stack.defer(() => late.abort())
  const open = async () => {
    const socket = await openSocket(address, tls, late.signal)
    if (onClose) socket.once('close', onClose)
    return stack.use(askInOrder(socket, { answersWithinMs: commandTimeoutMs, replyLimits, onMessage }))
  }
  try {
    const asking = await within(logIn(open, address, login, alsoBusy), connectTimeoutMs)
    stack.move()
    return connectionTo(address, asking)
  } catch (cause) {
    throw unreachable(address, cause)
  }
}

/**
 * Connects over a socket whose other end is an engine with a finished login, through the agent of its node.
 * Owns the socket. `address` names the engine; `commandTimeoutMs` and `onMessage` as above.
 */
export function connectOver(
  socket: Socket,
  options: {
    readonly address: EngineAddress
    readonly commandTimeoutMs?: number
    readonly onMessage?: (() => void) | undefined
  },
): EngineConnection {
  const { address, commandTimeoutMs = 2_000, onMessage } = options
  return connectionTo(address, askInOrder(socket, { answersWithinMs: commandTimeoutMs, onMessage }))
}

/**
 * Connects and logs in like `connectEngine`, within `withinMs`. Returns the bare, paused socket after both
 * replies to the login, and nothing else, were read. An abort leaves nothing open; throws as above.
 */
export async function openSignedIn(options: {
  readonly address: EngineAddress
  readonly login: EngineLogin
  readonly withinMs: number
  readonly signal: AbortSignal
}): Promise<Socket> {
  const { address, login, withinMs, signal } = options
  using stack = new DisposableStack()
  const late = new AbortController()
  stack.defer(() => late.abort())
  const ended = AbortSignal.any([late.signal, signal])
  const open = async () =>
    stack.adopt(await openSocket(address, undefined, ended), (socket) => void socket.destroy())
  const begin = async () => {
    const socket = await connectToOwn(address, open, (opened) => void opened.destroy())
    await signInOver(socket, login)
    return socket
  }
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = () => reject(new Error('it was given up'))
  signal.addEventListener('abort', abort, { once: true })
  stack.defer(() => signal.removeEventListener('abort', abort))
  try {
    const socket = await within(Promise.race([begin(), aborted]), withinMs)
    signal.removeEventListener('abort', abort)
    stack.move()
    return socket
  } catch (cause) {
    throw unreachable(address, cause)
  }
}

/** Reads both replies to a login from the bare socket, then pauses it again. */
async function signInOver(socket: Socket, { username, password }: EngineLogin): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<readonly PlainReply[]>()
  const reader = createReplyReader()
  const replies: PlainReply[] = []
  const take = (reply: PlainReply) => {
    replies.push(reply)
    if (replies.length > 2) throw new Error('it sent an unrequested message')
  }
  const read = (chunk: Buffer) => {
    try {
      reader.read(chunk, take)
    } catch (cause) {
      reject(cause)
    }
    if (replies.length < 2) return
    socket.pause().off('data', read)
    resolve(replies)
  }
  const close = () => reject(new Error('the connection is closed'))
  if (socket.destroyed) throw socket.errored ?? new Error('the connection is closed')
  socket.on('data', read).once('error', reject).once('close', close)
  socket.write(encodeCommand(['AUTH', username, password]))
  socket.write(encodeCommand(['PING']))
  for (const reply of await promise) readAnswer(reply)
  socket.off('error', reject).off('close', close)
}

/** Sends nothing before the listener's owner is proven. Throws the failure, or an error reply to PING. */
async function logIn(
  open: () => Promise<Asking>,
  address: EngineAddress,
  { username, password }: EngineLogin,
  alsoBusy: boolean,
): Promise<Asking> {
  const asking = await connectToOwn(address, open, (opened) => opened[Symbol.dispose]())
  const [signedIn, alive] = await Promise.all([
    asking.ask(['AUTH', username, password]),
    asking.ask(['PING']),
  ])
  readAnswer(signedIn)
  const isBusy = isError(alive) && alive.error.startsWith('BUSY ')
  if (!(isBusy && alsoBusy)) readAnswer(alive)
  return asking
}

function connectionTo(address: EngineAddress, asking: Asking): RepeatingConnection {
  const answered = async (asked: Promise<PlainReply>) => {
    try {
      return readAnswer(await asked)
    } catch (cause) {
      throw cause instanceof EngineError ? cause : unreachable(address, cause)
    }
  }
  const call: EngineConnection['call'] = (command, ...args) => {
    const words = [command, ...args.map((arg) => (Buffer.isBuffer(arg) ? arg : String(arg)))]
    return traceCommand(words, address, () => answered(asking.ask(words)))
  }
  return {
    address,
    call,
    callAgain: (question) => answered(asking.askAgain(question)),
    get usable() {
      return asking.usable
    },
    async info(...sections) {
      return String(await call('INFO', ...sections))
    },
    [Symbol.dispose]: () => asking[Symbol.dispose](),
  }
}

/** Throws EngineError for an error reply. A long list that was read before (parse-once.ts) is reused. */
function readAnswer(reply: PlainReply): Reply {
  if (isList(reply)) {
    const answer =
      longLists.get(reply) ?? reply.map((each) => (isError(each) ? each.error : readAnswer(each)))
    if (reply.length >= LONG_LIST) longLists.set(reply, answer)
    return answer
  }
  if (isError(reply)) throw new EngineError(printable(reply.error))
  return reply
}

const LONG_LIST = 100
const longLists = new WeakMap<readonly PlainReply[], readonly Reply[]>()

function isList(reply: PlainReply): reply is readonly PlainReply[] {
  return Array.isArray(reply)
}

function isError(reply: PlainReply): reply is { readonly error: string } {
  return reply !== null && typeof reply === 'object' && 'error' in reply
}

function unreachable({ host, port }: EngineAddress, cause: unknown): EngineUnreachable {
  const reason = printable(messageOf(cause))
  return new EngineUnreachable(`the engine at ${host}:${port} gave no answer: ${reason}`, { cause })
}

async function within<T>(promise: Promise<T>, ms: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no connection within ${ms} ms`)), ms)
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
