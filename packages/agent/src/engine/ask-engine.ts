import {
  connectEngine,
  type EngineAddress,
  EngineError,
  type EngineLogin,
  EngineUnreachable,
  isRefused,
  type RepeatedQuestion,
  type RepeatingConnection,
  type Reply,
  repeatedQuestion,
} from '@fairlead/engine'
import type { Silence } from './decide-silent.ts'

/** `silent`: no answer yet, for this long. */
export type ProbeAnswer =
  | Exclude<Answer, { kind: 'silent' }>
  | { readonly kind: 'silent'; readonly forMs: number }

/** A loaded engine can be slower: only a long, inactive silence counts. */
const ASK_WITHIN_MS = 1_000
const PING = ['PING']

/** Address and login of an engine process. */
export interface EngineTarget {
  readonly address: EngineAddress
  readonly login: EngineLogin
}

/** Keeps one connection to an engine process and repeatedly checks whether it answers. */
export interface Probe extends Disposable {
  /** Sends PING. Never throws because of the engine. */
  ask(target: EngineTarget): Promise<ProbeAnswer>
  /** Sends a command on the connection of the last `ask`. Throws EngineError or EngineUnreachable. */
  call(command: string, ...args: readonly string[]): Promise<Reply>
  /** Like `call`, for a repeated question: pass the same list. Equal replies have the same text object. */
  callAgain(words: readonly string[]): Promise<Reply>
  /** Number of opened connections: it changes with each new connection. */
  readonly opened: number
  /** Call when the next questions go to another process. */
  forget(): void
}

/**
 * Creates a probe without a connection: the first question opens one, and so does the next one after a
 * failure. `onClose` is called when the connection has ended: the process may be gone.
 */
export function createProbe(onClose?: () => void): Probe {
  let connection: RepeatingConnection | null = null
  let silentSince: number | null = null
  let opened = 0
  let isSettled = false

  const connected = async ({ address, login }: EngineTarget): Promise<RepeatingConnection> => {
    if (connection?.usable) return connection
    connection?.[Symbol.dispose]()
    connection = null
    // A starting engine refuses connections. Without this check, each attempt would first read all listeners
    // of the machine.
    if (!isSettled && (await isRefused(address, ASK_WITHIN_MS)))
      throw new EngineUnreachable(`the engine at ${address.host}:${address.port} does not listen yet`)
    connection = await connectEngine({
      address,
      login,
      connectTimeoutMs: ASK_WITHIN_MS,
      commandTimeoutMs: ASK_WITHIN_MS,
      ...(onClose && { onClose }),
    })
    opened += 1
    isSettled = true
    return connection
  }
  const forget = (): void => {
    connection?.[Symbol.dispose]()
    connection = null
    silentSince = null
    isSettled = false
  }

  const repeated = keepQuestions()
  const asking = async (ask: (connection: RepeatingConnection) => Promise<Reply>): Promise<Reply> => {
    if (!connection) throw new Error('no engine was asked yet')
    try {
      return await ask(connection)
    } catch (cause) {
      // The first question without an answer is not always a PING.
      if (readErrorReply(cause) === null) silentSince ??= performance.now()
      throw cause
    }
  }

  return {
    async ask(target) {
      const answer = await ping(async () => {
        const usable = connection?.usable === true ? connection : await connected(target)
        await usable.callAgain(repeated(PING))
      })
      if (answer !== 'silence') {
        silentSince = null
        return answer
      }
      // Counted from the first unanswered PING, so a stall of the agent does not count as silence of the
      // engine.
      silentSince ??= performance.now()
      return { kind: 'silent', forMs: Math.round(performance.now() - silentSince) }
    },
    call: (command, ...args) => asking((usable) => usable.call(command, ...args)),
    callAgain: (words) => asking((usable) => usable.callAgain(repeated(words))),
    get opened() {
      return opened
    },
    forget,
    [Symbol.dispose]: forget,
  }
}

/** Returns a question for each list of words. */
function keepQuestions(): (words: readonly string[]) => RepeatedQuestion {
  const questions = new Map<readonly string[], RepeatedQuestion>()
  return (words) => {
    const known = questions.get(words) ?? repeatedQuestion(words)
    questions.set(words, known)
    return known
  }
}

async function ping(ask: () => Promise<void>): Promise<Exclude<Answer, { kind: 'silent' }> | 'silence'> {
  try {
    await ask()
    return { kind: 'pong' }
  } catch (cause) {
    const words = readErrorReply(cause)
    if (words === null) return 'silence'
    return words.startsWith('LOADING') ? { kind: 'loading' } : { kind: 'busy', why: `it answers: ${words}` }
  }
}

/** Returns the text of the engine's error reply; null if it did not answer. */
export function readErrorReply(cause: unknown): string | null {
  if (cause instanceof EngineError) return cause.message
  // During connecting, an error reply is the cause of another error: the connection was refused.
  const inner = cause instanceof Error ? cause.cause : null
  return inner instanceof EngineError ? inner.message : null
}

/** `loading`: it reads its data. `busy`: it answers, but not PONG; `why` has the reply. */
export type Answer =
  | { readonly kind: 'pong' }
  | { readonly kind: 'loading' }
  | { readonly kind: 'busy'; readonly why: string }
  | { readonly kind: 'silent'; readonly silence: Silence }
