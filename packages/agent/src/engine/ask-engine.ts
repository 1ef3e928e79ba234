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

/** `silent`: it gave no answer, for so long now. */
export type ProbeAnswer =
  | Exclude<Answer, { kind: 'silent' }>
  | { readonly kind: 'silent'; readonly forMs: number }

/** A loaded engine may be slower than this at times: only a long silence in which it does nothing counts. */
const ASK_WITHIN_MS = 1_000
const PING = ['PING']

/** An engine process, by its address and its login. */
export interface EngineTarget {
  readonly address: EngineAddress
  readonly login: EngineLogin
}

/** Keeps one connection to one engine process and asks it repeatedly whether it lives. */
export interface Probe extends Disposable {
  /** PING. Never throws for what the engine does. */
  ask(target: EngineTarget): Promise<ProbeAnswer>
  /** Sends a command on the connection of the last `ask`. Throws EngineError or EngineUnreachable. */
  call(command: string, ...args: readonly string[]): Promise<Reply>
  /** The same for the words of a question that is asked repeatedly: always the same list. Where the engine answers in the same bytes, a text is the same text. */
  callAgain(words: readonly string[]): Promise<Reply>
  /** How many connections it has opened: another number, another connection. */
  readonly opened: number
  /** The next questions go to another process. */
  forget(): void
}

/**
 * A probe without a connection yet; it opens one with the first question, and again after each failure. `onClose` is called when it has ended: the process may
 * be gone.
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
    // An engine that is starting refuses connections. Without this, each attempt would first read all listeners of the machine.
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
      // Counted from the first unanswered PING, so a time in which the agent itself stalled does not count as silence of the engine.
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

/** A question for each list of words. */
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

/** The text of an error with which the engine answered; null if it gave no answer. */
export function readErrorReply(cause: unknown): string | null {
  if (cause instanceof EngineError) return cause.message
  // While connecting, an error reply comes wrapped: the connection was refused for a reason.
  const inner = cause instanceof Error ? cause.cause : null
  return inner instanceof EngineError ? inner.message : null
}

/** `loading`: it reads its data. `busy`: it answers, but not PONG; `why` says what. */
export type Answer =
  | { readonly kind: 'pong' }
  | { readonly kind: 'loading' }
  | { readonly kind: 'busy'; readonly why: string }
  | { readonly kind: 'silent'; readonly silence: Silence }
