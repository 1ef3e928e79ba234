import { type Asking, askInOrder } from './ask-in-order.ts'
import { connectToOwn } from './connect-to-own.ts'
import type { EngineAddress, EngineTls } from './engine-address.ts'
import type { PlainReply } from './framing/parse-plain-reply.ts'
import { openSocket } from './open-socket.ts'
import { printable } from './printable.ts'

/** A user of an engine (ACL) and its password in the clear. */
export interface EngineLogin {
  readonly username: string
  readonly password: string
}

/** What an engine answers to a command. An error in a list, as that of EXEC may have, stands there as its words. */
export type Reply = string | number | null | readonly Reply[]

/** The engine answered a command with an error ("READONLY …", "NOPERM …"). The words are printable, 500 characters at most. */
export class EngineError extends Error {
  override readonly name = 'EngineError'
}

/** The engine gave no answer that is one: refused, closed, too late, or not understood. Whether a command was carried out is unknown. */
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

/**
 * Connects and logs in. Retries nothing: whoever called decides what to do about an engine that does not answer. On this machine the password
 * goes to no process of another user (connect-to-own.ts): such a one is an EngineUnreachable of which the cause is NotOurs; one that answers the login
 * with an error is an EngineUnreachable of which the cause is an EngineError.
 *
 * `connectTimeoutMs` bounds connecting with login (a frozen process accepts TCP and says nothing),
 * `commandTimeoutMs` each command.
 */
export async function connectEngine(options: {
  readonly address: EngineAddress
  readonly login: EngineLogin
  /** Plain when absent. */
  readonly tls?: EngineTls
  readonly connectTimeoutMs?: number
  readonly commandTimeoutMs?: number
  /** Called for each message of a shard channel that was subscribed to (SSUBSCRIBE). */
  readonly onMessage?: () => void
}): Promise<EngineConnection> {
  const { address, login, tls, connectTimeoutMs = 1_000, commandTimeoutMs = 2_000, onMessage } = options
  using stack = new DisposableStack()
  // To prove who listens may take longer than there is time: what would be opened after that, nobody would close.
  const late = new AbortController()
  stack.defer(() => late.abort())
  const open = async () => {
    const socket = await openSocket(address, tls, late.signal)
    return stack.use(askInOrder(socket, { answersWithinMs: commandTimeoutMs, onMessage }))
  }
  try {
    const asking = await within(logIn(open, address, login), connectTimeoutMs)
    stack.move()
    return connectionTo(address, asking)
  } catch (cause) {
    throw unreachable(address, cause)
  }
}

/** Says nothing before it is proven who listens. Throws what was in the way, and what is an error to PING: it can be spoken to, or not. */
async function logIn(
  open: () => Promise<Asking>,
  address: EngineAddress,
  { username, password }: EngineLogin,
): Promise<Asking> {
  const asking = await connectToOwn(address, open, (opened) => opened[Symbol.dispose]())
  const replies = await Promise.all([asking.ask(['AUTH', username, password]), asking.ask(['PING'])])
  for (const reply of replies) readAnswer(reply)
  return asking
}

function connectionTo(address: EngineAddress, asking: Asking): EngineConnection {
  const call: EngineConnection['call'] = async (command, ...args) => {
    const words = [command, ...args.map((arg) => (Buffer.isBuffer(arg) ? arg : String(arg)))]
    try {
      return readAnswer(await asking.ask(words))
    } catch (cause) {
      throw cause instanceof EngineError ? cause : unreachable(address, cause)
    }
  }
  return {
    address,
    call,
    get usable() {
      return asking.usable
    },
    async info(...sections) {
      return String(await call('INFO', ...sections))
    },
    [Symbol.dispose]: () => asking[Symbol.dispose](),
  }
}

/** Throws EngineError for a reply that is one. */
function readAnswer(reply: PlainReply): Reply {
  if (isList(reply)) return reply.map((each) => (isError(each) ? each.error : readAnswer(each)))
  if (isError(reply)) throw new EngineError(printable(reply.error))
  return reply
}

function isList(reply: PlainReply): reply is readonly PlainReply[] {
  return Array.isArray(reply)
}

function isError(reply: PlainReply): reply is { readonly error: string } {
  return reply !== null && typeof reply === 'object' && 'error' in reply
}

function unreachable({ host, port }: EngineAddress, cause: unknown): EngineUnreachable {
  const reason = printable(cause instanceof Error ? cause.message : String(cause))
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
