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

/** A user of an engine (ACL) and its password in the clear. */
export interface EngineLogin {
  readonly username: string
  readonly password: string
}

/** What an engine answers to a command. An error inside a list (the answer to EXEC may have one) is given as its text. */
export type Reply = string | number | null | readonly Reply[]

/** The engine answered a command with an error ("READONLY …", "NOPERM …"). The words are printable, 500 characters at most. */
export class EngineError extends Error {
  override readonly name = 'EngineError'

  /** The engine's own code: "READONLY". */
  get code(): string {
    return this.message.split(' ', 1)[0] ?? ''
  }
}

/** The engine gave no valid answer: refused, closed, too late, or not understood. Whether a command was carried out is unknown. */
export class EngineUnreachable extends Error {
  override readonly name = 'EngineUnreachable'
}

/** One authenticated connection to one engine process. Commands are answered in the order in which they were called. */
export interface EngineConnection extends Disposable {
  readonly address: EngineAddress
  /** Sends a command at once. Throws EngineError or EngineUnreachable; never waits longer than the connection's deadline. */
  call(command: string, ...args: readonly (string | number | Buffer)[]): Promise<Reply>
  /** The text of INFO, restricted to `sections` if any are named. */
  info(...sections: readonly string[]): Promise<string>
  /** False once the connection is broken. A broken connection stays broken: open another. */
  readonly usable: boolean
}

/** A connection over which an engine is asked the same repeatedly. */
export interface RepeatingConnection extends EngineConnection {
  /** As `call`. An answer in the bytes of the one before is the same value, and is not read anew: a text, or a list of at least 100. */
  callAgain(question: RepeatedQuestion): Promise<Reply>
}

/**
 * Connects and logs in. It does not retry: the caller decides what to do about an engine that does not
 * answer. On this machine the password goes to no process of another user (connect-to-own.ts). Throws
 * EngineUnreachable; its cause is NotOurs for a process of another user, and an EngineError if the engine
 * refused the login.
 *
 * `connectTimeoutMs` bounds connecting with login (a frozen process accepts TCP and sends nothing),
 * `commandTimeoutMs` each command.
 */
export async function connectEngine(options: {
  readonly address: EngineAddress
  readonly login: EngineLogin
  /** Plain when absent. */
  readonly tls?: EngineTls
  readonly connectTimeoutMs?: number
  readonly commandTimeoutMs?: number
  /** Also to an engine that a script keeps busy: it answers what ends the script, and refuses all else. */
  readonly alsoBusy?: boolean
  /** How much one reply may have; by default as reply-reader.ts says. */
  readonly replyLimits?: ReplyLimits
  /** Called for each message of a shard channel that was subscribed to (SSUBSCRIBE). */
  readonly onMessage?: () => void
  /** Called when the connection has ended, whichever side has ended it. */
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
  // The proof of the listener's owner may outlast the time-out: a socket opened after that would never be
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
 * Speaks over a socket to an engine at its other end, which has signed in already: the agent of its node leads there. It owns the
 * socket. `address` names the engine; `commandTimeoutMs` and `onMessage` as above.
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
 * Connects and logs in as `connectEngine` does, within `withinMs`, and gives the bare socket, paused: both answers to the login
 * have been read from it, and nothing else. Aborted, nothing stays open. Throws as above.
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

/** Both answers to a login, read from the bare socket, which is paused again at the end of the second. */
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

/**
 * Sends nothing before the listener's owner is proven. Throws what prevented it, and an error reply to PING.
 */
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

/** Throws EngineError for a reply that is one. A long list that was read before (parse-once.ts) is the same answer. */
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
