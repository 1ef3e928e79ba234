import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { encodeCommand } from './framing/encode-command.ts'
import { parseOnce } from './framing/parse-once.ts'
import type { PlainReply } from './framing/parse-plain-reply.ts'
import { createReplyReader, type ReplyLimits } from './framing/reply-reader.ts'

/** Commands to the engine at the other end of a socket, with replies in the same order. */
export interface Asking extends Disposable {
  /** Sends a command immediately. Throws without an answer in time, or if the connection has ended. */
  ask(words: readonly (string | Buffer)[]): Promise<PlainReply>
  /** Like `ask`, for a repeated question. */
  askAgain(question: RepeatedQuestion): Promise<PlainReply>
  /** False after the first command without an answer in time, or when the connection is closed. */
  readonly usable: boolean
}

/**
 * A command that one engine is asked repeatedly, and its last reply. Its bytes are made once; a reply with
 * the same bytes is the same value.
 */
export interface RepeatedQuestion {
  readonly bytes: Buffer
  last: { readonly bytes: Buffer; readonly reply: PlainReply } | null
}

/** Creates a question that was not asked yet. */
export function repeatedQuestion(words: readonly string[]): RepeatedQuestion {
  return { bytes: encodeCommand(words), last: null }
}

interface Question {
  readonly repeats: RepeatedQuestion | null
  readonly answer: (reply: PlainReply) => void
  readonly fail: (cause: Error) => void
}

/** A stopped engine reads nothing: closing waits at most this long until the last bytes are sent. */
const CLOSE_WITHIN_MS = 20
/** Limit of a kept reply: an engine may answer anything. */
const MOST_KEPT_BYTES = 64 * 1024
/** A channel that only Fairlead uses has one message at a time. */
const MOST_MESSAGES = 1_000

interface AskingOptions {
  readonly answersWithinMs: number
  readonly replyLimits?: ReplyLimits | undefined
  readonly onMessage: (() => void) | undefined
}

/**
 * Takes and owns a connected socket. The engine is not trusted: an unrequested, invalid or too large message
 * ends this connection only. `onMessage` is called for each message of a shard channel, at most 1,000;
 * without it, any such message is an error.
 */
export function askInOrder(
  socket: Socket,
  { answersWithinMs, replyLimits, onMessage }: AskingOptions,
): Asking {
  const reader = createReplyReader(replyLimits)
  const questions: Question[] = []
  const isHeard = hearMessages(onMessage)
  let usable = true
  let closed: Error | null = null

  const close = (cause: Error) => {
    usable = false
    closed ??= cause
    for (const { fail } of questions.splice(0)) fail(closed)
  }
  const take = (reply: PlainReply) => {
    if (isHeard(reply)) return
    const question = questions.shift()
    if (question === undefined) throw new Error('it sent an unrequested message')
    question.answer(reply)
  }
  const parse = (bytes: Buffer) => parseAgain(questions[0]?.repeats ?? null, bytes)
  socket.on('data', (chunk: Buffer) => {
    if (closed !== null) return
    try {
      reader.read(chunk, take, parse)
    } catch (cause) {
      close(cause instanceof Error ? cause : new Error(String(cause)))
      socket.destroy()
    }
  })
  socket.on('error', close)
  socket.on('close', () => close(new Error('the connection is closed')))

  const writes = gatherWrites(socket)
  const late = () => {
    usable = false
  }
  const send = (bytes: Buffer, repeats: RepeatedQuestion | null) => {
    if (closed !== null) return Promise.reject(closed)
    // A command with a late reply keeps its place: the reply may still come, and belongs to no other command.
    const { question, reply } = timedQuestion(answersWithinMs, repeats, late)
    questions.push(question)
    writes.add(bytes)
    return reply
  }
  return {
    ask: (words) => send(encodeCommand(words), null),
    askAgain: (question) => send(question.bytes, question),
    get usable() {
      return usable
    },
    [Symbol.dispose]() {
      writes.flush()
      if (closed === null) void endSoon(socket)
      close(new Error('the connection was closed by us'))
    },
  }
}

/** Parses a reply, unless a repeated question got the same bytes before. */
function parseAgain(question: RepeatedQuestion | null, bytes: Buffer): PlainReply {
  if (question === null) return parseOnce(bytes)
  if (question.last?.bytes.equals(bytes) === true) return question.last.reply
  const reply = parseOnce(bytes)
  // Copied, because the chunk that they are part of is larger.
  question.last = bytes.length <= MOST_KEPT_BYTES ? { bytes: Buffer.from(bytes), reply } : null
  return reply
}

/** Creates a question and its reply; without an answer within `withinMs`, calls `onLate` and rejects. */
function timedQuestion(
  withinMs: number,
  repeats: RepeatedQuestion | null,
  onLate: () => void,
): { readonly question: Question; readonly reply: Promise<PlainReply> } {
  const { promise, resolve, reject } = Promise.withResolvers<PlainReply>()
  const late = setTimeout(() => {
    onLate()
    reject(new Error(`the command timed out after ${withinMs} ms`))
  }, withinMs)
  const ended = <Value>(settle: (value: Value) => void) => {
    return (value: Value) => {
      clearTimeout(late)
      settle(value)
    }
  }
  return { question: { repeats, answer: ended(resolve), fail: ended(reject) }, reply: promise }
}

/** Returns a test for messages of a channel, which are reported. */
function hearMessages(onMessage: (() => void) | undefined): (reply: PlainReply) => boolean {
  let messages = 0
  return (reply) => {
    if (onMessage === undefined || !isOfChannel(reply)) return false
    messages += 1
    if (messages > MOST_MESSAGES) throw new Error(`it sent more than ${MOST_MESSAGES} messages`)
    if (reply[0] === 'smessage') onMessage()
    return true
  }
}

/** Recognizes messages that engines send unrequested to subscribers of shard channels. */
function isOfChannel(reply: PlainReply): reply is readonly PlainReply[] {
  return Array.isArray(reply) && (reply[0] === 'smessage' || reply[0] === 'sunsubscribe')
}

/**
 * Sends commands of the same moment in one write: a look sends several to each of dozens of engines. Separate
 * pieces (`cork`) cost the kernel, and Node, a third more.
 */
function gatherWrites(socket: Socket): { add(bytes: Buffer): void; flush(): void } {
  let gathered: Buffer[] = []
  const flush = () => {
    const [first, ...others] = gathered
    gathered = []
    if (first !== undefined && !socket.destroyed)
      socket.write(others.length === 0 ? first : Buffer.concat([first, ...others]))
  }
  return {
    flush,
    add(bytes) {
      gathered.push(bytes)
      if (gathered.length === 1) process.nextTick(flush)
    },
  }
}

async function endSoon(socket: Socket): Promise<void> {
  socket.destroySoon()
  if (socket.destroyed) return
  await delay(CLOSE_WITHIN_MS)
  socket.destroy()
}
