import type { Redis } from 'ioredis'
import { connectToOwn, NotOurs } from './connect-to-own.ts'

export interface EngineAddress {
  readonly host: string
  readonly port: number
}

export interface EngineLogin {
  readonly username: string
  readonly password: string
}

/** Speaks TLS to whom one of `ca` vouches for: authorities, or others whom to trust as they are (PEM). */
export interface EngineTls {
  readonly ca: readonly string[]
  /** Whether the certificate must prove the host of the address. */
  readonly checksHost: boolean
}

/** What an engine answers to a command. */
export type Reply = string | number | null | readonly Reply[]

/** The engine answered a command with an error ("READONLY …", "NOPERM …"). */
export class EngineError extends Error {
  override readonly name = 'EngineError'
}

/** The engine gave no answer: refused, closed, or too late. Whether a command was carried out is unknown. */
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

const CLOSE_WITHIN_MS = 20

/**
 * Connects and logs in. Retries nothing: whoever called decides what to do about an engine that does not answer. On this machine the password
 * goes to no process of another user (connect-to-own.ts): such a one is an EngineUnreachable of which the cause is NotOurs.
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
  const {
    address,
    login,
    tls,
    connectTimeoutMs = 1_000,
    commandTimeoutMs = 2_000,
    onMessage = () => undefined,
  } = options
  // Only who connects loads it: the proxy needs nothing but the framing, and its memory is counted.
  const { Redis } = await import('ioredis')
  const redis = new Redis({
    host: address.host,
    port: address.port,
    // No login here: it would be sent as soon as anything accepts the connection.
    ...(tls !== undefined && { tls: tlsOptions(tls) }),
    protocol: 2,
    lazyConnect: true,
    disableClientInfo: true,
    enableOfflineQueue: false,
    enableReadyCheck: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    connectTimeout: connectTimeoutMs,
    commandTimeout: commandTimeoutMs,
    // ioredis waits so long for a close that, after a refused connection, has been already: it kept agents from ending.
    disconnectTimeout: CLOSE_WITHIN_MS,
  })
  redis.on('smessage', () => onMessage())
  let usable = true
  let isDisposed = false
  redis.on('end', () => {
    usable = false
  })
  // ioredis throws when nobody listens; the pending command carries the same news to its caller. Not why TLS was not agreed on.
  let heard: unknown
  redis.on('error', (cause) => {
    heard ??= cause
    usable = false
  })

  // To prove who listens may take longer than there is time: what would be opened after that, nobody would close.
  let isGivenUp = false
  const open = async () => {
    if (isGivenUp) throw new Error('it is too late to connect')
    await redis.connect()
  }
  try {
    await within(logIn({ redis, open }, address, login), connectTimeoutMs)
  } catch (cause) {
    isGivenUp = true
    redis.disconnect()
    throw unreachable(address, cause instanceof NotOurs ? cause : (heard ?? cause))
  }

  // What is called in one go leaves in one write: a look asks three things of each of dozens of engines.
  let isCorked = false
  const gather = () => {
    if (isCorked) return
    isCorked = true
    const { stream } = redis
    stream.cork()
    process.nextTick(() => {
      isCorked = false
      stream.uncork()
    })
  }

  const call: EngineConnection['call'] = async (command, ...args) => {
    try {
      gather()
      return (await redis.call(
        command,
        ...args.map((arg) => (Buffer.isBuffer(arg) ? arg : String(arg))),
      )) as Reply
    } catch (cause) {
      if (isReplyError(cause)) throw new EngineError(cause.message, { cause })
      usable = false
      throw unreachable(address, cause)
    }
  }

  return {
    address,
    call,
    get usable() {
      return usable
    },
    async info(...sections) {
      return String(await call('INFO', ...sections))
    },
    [Symbol.dispose]() {
      usable = false
      // ioredis waits once more for the end of the socket each time; that of a stopped engine may be long in coming.
      if (!isDisposed) redis.disconnect()
      isDisposed = true
    },
  }
}

/** Says nothing before it is proven who listens. Throws what was in the way, and what is an error to PING: it can be spoken to, or not. */
async function logIn(
  { redis, open }: { readonly redis: Pick<Redis, 'disconnect' | 'call'>; readonly open: () => Promise<void> },
  address: EngineAddress,
  { username, password }: EngineLogin,
): Promise<void> {
  await connectToOwn(address, open, () => redis.disconnect())
  await Promise.all([redis.call('AUTH', username, password), redis.call('PING')])
}

function tlsOptions({ ca, checksHost }: EngineTls) {
  const trust = { ca: [...ca], allowPartialTrustChain: true, minVersion: 'TLSv1.2' as const }
  return { ...trust, ...(!checksHost && { checkServerIdentity: () => undefined }) }
}

function isReplyError(cause: unknown): cause is Error {
  return cause instanceof Error && cause.name === 'ReplyError'
}

function unreachable({ host, port }: EngineAddress, cause: unknown): EngineUnreachable {
  const reason = cause instanceof Error ? cause.message : String(cause)
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
